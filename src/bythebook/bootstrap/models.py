"""A language model in the roles that it plays; loading the SDK takes seconds, so only where one is set."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bythebook.adapters.providers.agents.calls.endpoint import ModelEndpoint
from bythebook.adapters.providers.agents.calls.model_calls import ModelCalls
from bythebook.adapters.providers.agents.roles.generator import AgentsGenerator
from bythebook.adapters.providers.agents.roles.model_check import ModelCheck
from bythebook.adapters.providers.agents.roles.planner import AgentsPlanner
from bythebook.adapters.providers.agents.roles.searcher import AgentsSearcher
from bythebook.adapters.providers.agents.roles.validator import AgentsValidator
from bythebook.ask import AskPorts, neutralize
from bythebook.bootstrap.model_access import ModelAccess
from bythebook.ports import Generator, Planner, Searcher, Validator
from bythebook.settings import Settings


@dataclass(frozen=True, slots=True)
class Models:
    """The roles of the language model, each behind its port."""

    endpoint: ModelEndpoint
    generator: Generator
    planner: Planner
    validator: Validator | None
    searcher: Searcher | None
    check: Callable[[], Awaitable[None]]  # raises what is wrong with it
    own_words: bool = False
    fallback: bool = False

    def add_to(self, ports: AskPorts) -> AskPorts:
        """Return the parts of an answer with the model in its roles."""
        return replace(
            ports,
            generator=self.generator,
            planner=self.planner,
            validator=self.validator,
            searcher=self.searcher,
            model=self.endpoint.model,
            model_named=self.endpoint.provider_model,
            own_words=self.own_words,
            fallback=self.fallback,
        )


def make_model_calls(access: ModelAccess) -> ModelCalls:
    """Make the endpoint of a language model."""
    return ModelCalls(ModelEndpoint(access.url, access.model, access.key, access.ids))


def build_models(calls: ModelCalls, settings: Settings) -> Models:
    """Build the roles that are configured, over one endpoint and one breaker."""
    generator = AgentsGenerator(calls, neutralize=neutralize)
    return Models(
        calls.endpoint,
        generator,
        AgentsPlanner(calls, neutralize=neutralize),
        AgentsValidator(calls, neutralize=neutralize) if settings.llm_validator else None,
        AgentsSearcher(calls, generator, neutralize=neutralize) if settings.llm_multi_hop else None,
        ModelCheck(calls).require,
        settings.llm_own_words,
        settings.llm_fallback,
    )
