"""A language model in the roles that it plays; loading the SDK takes seconds, so only where one is set."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bythebook.adapters.providers.agents.agents_generator import AgentsGenerator
from bythebook.adapters.providers.agents.agents_planner import AgentsPlanner
from bythebook.adapters.providers.agents.agents_searcher import AgentsSearcher
from bythebook.adapters.providers.agents.agents_validator import AgentsValidator
from bythebook.adapters.providers.agents.connection import Connection
from bythebook.adapters.providers.agents.model_check import ModelCheck
from bythebook.adapters.providers.agents.runs import Runs
from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.guard import neutral
from bythebook.ask.verify.sentences import locate
from bythebook.domain.answers import Passage
from bythebook.ports import Generator, Planner, Searcher, Validator
from bythebook.settings import Settings


@dataclass(frozen=True, slots=True)
class Models:
    """What asks the language model, each role behind its port."""

    connection: Connection
    generator: Generator
    planner: Planner
    validator: Validator | None
    searcher: Searcher | None
    check: Callable[[], Awaitable[None]]  # raises what is wrong with it
    own_words: bool = False

    def answering_with(self, ports: AskPorts) -> AskPorts:
        """Put the model in its places among the parts of an answer."""
        return replace(
            ports,
            generator=self.generator,
            planner=self.planner,
            validator=self.validator,
            searcher=self.searcher,
            model=self.connection.model,
            model_named=self.connection.provider_model,
            own_words=self.own_words,
        )


def build_models(runs: Runs, settings: Settings) -> Models:
    """Build the roles that are configured, over one connection and one breaker."""
    generator = AgentsGenerator(runs, neutral=neutral, stands=_stands)
    return Models(
        runs.connection,
        generator,
        AgentsPlanner(runs, neutral=neutral),
        AgentsValidator(runs, neutral=neutral) if settings.llm_validator else None,
        AgentsSearcher(runs, generator, neutral=neutral) if settings.llm_multi_hop else None,
        ModelCheck(runs).require,
        settings.llm_own_words,
    )


def _stands(passage: Passage, quote: str) -> bool:
    return locate(passage, quote) is not None
