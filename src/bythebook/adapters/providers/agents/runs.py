"""Runs agents of the SDK: in time, without tracing, and with errors of ours only."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    ModelBehaviorError,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    Runner,
    TResponseInputItem,
    set_tracing_disabled,
)
from agents.exceptions import MaxTurnsExceeded
from agents.memory import Session
from openai.types.responses import ResponseTextDeltaEvent

from bythebook.adapters.providers.agents.answer_reader import (
    MadeUpAnswer,
    NothingAsked,
    UnusableAnswer,
)
from bythebook.adapters.providers.agents.connection import MODEL_VENDOR, Connection
from bythebook.adapters.providers.agents.prompts import REPAIR
from bythebook.adapters.providers.agents.wire import Meter, WatchedClient
from bythebook.adapters.providers.resilience import MODEL, Provider
from bythebook.adapters.providers.vendor_errors import failure_of
from bythebook.domain.answers import Passage
from bythebook.domain.usage import Usage
from bythebook.errors import BadAnswer, ModelFailed, ModelTimeout, PartFailed

# Whatever the base URL and whichever keys the environment holds, nothing is sent to be traced.
set_tracing_disabled(disabled=True)
_SHOWN_OF_ANSWER = 4000  # characters of an answer that the model is asked to put right
T = TypeVar("T")
Prompt = str | list[TResponseInputItem]


@dataclass(slots=True)
class Errand:
    """What an agent was sent for, as guardrails and tools see it."""

    question: str
    passages: list[Passage] = field(default_factory=list)


def model_provider() -> Provider:
    """Make the one way to a language model, with its times and its breaker."""
    return Provider("The language model", ModelFailed, MODEL, timed_out=ModelTimeout)


class Runs:
    """Opens requests to one connection; all of them share a breaker."""

    def __init__(self, connection: Connection, provider: Provider | None = None) -> None:
        self.connection = connection
        self._provider = provider or model_provider()

    def worked_within(self, seconds: float) -> bool:
        """Whether the model answered so recently that it need not be asked just to see."""
        return self._provider.worked_within(seconds)

    @asynccontextmanager
    async def request(self, what: str, model: str | None = None) -> AsyncIterator["ModelRequest"]:
        """Open a request of one or more calls, which have their time together."""
        async with self._provider.stream(what) as times:
            meter = Meter()
            client = WatchedClient(self.connection, times, meter)
            request = ModelRequest(client, self.connection.provider_model(model), meter)
            try:
                yield request
            finally:
                await client.close_streams()


class ModelRequest:
    """The calls that one request makes to a model."""

    def __init__(self, client: WatchedClient, model: str, meter: Meter) -> None:
        self._model = OpenAIChatCompletionsModel(model, client)
        self._meter = meter

    def usage(self) -> Usage:
        """Give what calls took since this was last asked."""
        return self._meter.since_told()

    async def written(
        self,
        agent: Agent[Errand],
        prompt: Prompt,
        errand: Errand,
        session: Session | None = None,
    ) -> AsyncGenerator[str]:
        """Give what an agent writes in one turn, as it comes."""
        async with aclosing(self.spoken(agent, prompt, errand, session=session)) as pieces:
            async for _, piece in pieces:
                yield piece

    async def spoken(
        self,
        agent: Agent[Errand],
        prompt: Prompt,
        errand: Errand,
        *,
        session: Session | None = None,
        most_turns: int = 1,
    ) -> AsyncGenerator[tuple[str, str]]:
        """Give what agents write as it comes, with the name of who writes, as they hand over."""
        run = Runner.run_streamed(
            agent,
            prompt,
            context=errand,
            max_turns=most_turns,
            run_config=RunConfig(
                model=self._model, tracing_disabled=True, trace_include_sensitive_data=False
            ),
            session=session,
        )
        speaker = agent.name
        try:
            async for event in run.stream_events():
                if event.type == "agent_updated_stream_event":
                    speaker = event.new_agent.name
                elif event.type == "raw_response_event" and isinstance(
                    event.data, ResponseTextDeltaEvent
                ):
                    yield speaker, event.data.delta
        except OutputGuardrailTripwireTriggered:
            raise MadeUpAnswer(
                "none of the quotes stands in the passages; copy them letter by letter"
            ) from None
        except (ModelBehaviorError, MaxTurnsExceeded):
            raise UnusableAnswer("it is not in the form described") from None
        except InputGuardrailTripwireTriggered:
            raise NothingAsked("it asks nothing of the book") from None
        except PartFailed:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an SDK raises becomes ours here
            raise failure_of(MODEL_VENDOR, error) from None
        finally:
            run.cancel()

    async def told(
        self,
        agent: Agent[Errand],
        prompt: str,
        errand: Errand,
        read: Callable[[str], T],
        session: Session | None = None,
    ) -> T:
        """Give what can be read from an agent's answer; it may put its form right once."""
        text = ""
        try:
            async with aclosing(self.written(agent, prompt, errand, session)) as pieces:
                async for piece in pieces:
                    text += piece
            return read(text)
        except UnusableAnswer as error:
            again = repaired(prompt, text, error)
        text = ""
        async with aclosing(self.written(agent, again, errand, session)) as pieces:
            async for piece in pieces:
                text += piece
        return read(text)


def repaired(prompt: str, written: str, error: UnusableAnswer) -> list[TResponseInputItem]:
    """Ask again, with what was wrong; nothing can be made of nothing."""
    if not written.strip():
        raise error
    return [
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": written[:_SHOWN_OF_ANSWER]},
        {"role": "user", "content": REPAIR.format(reason=error)},
    ]


def unusable(error: UnusableAnswer) -> BadAnswer:
    """Say that a model did not keep to the form, also when asked again."""
    return BadAnswer(
        f"The language model's answer cannot be used: {error}.",
        "Ask again; if it stays so, set BYTHEBOOK_LLM_MODEL to a better model.",
    )


def settings_of(**more: Any) -> ModelSettings:
    """Give what every call asks for: the likeliest words, a bill, and to be kept nowhere."""
    return ModelSettings(temperature=0.0, include_usage=True, store=False, **more)
