"""Runs agents of the SDK with time limits, without tracing, and raises only our errors."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    ModelBehaviorError,
    ModelSettings,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    TResponseInputItem,
    set_tracing_disabled,
)
from agents.exceptions import MaxTurnsExceeded
from agents.memory import Session
from openai.types.responses import ResponseTextDeltaEvent

from bythebook.adapters.providers.agents.calls.endpoint import MODEL_VENDOR, ModelEndpoint
from bythebook.adapters.providers.agents.calls.watched_client import RequestMeter, WatchedClient
from bythebook.adapters.providers.agents.prompts import REPAIR
from bythebook.adapters.providers.agents.replies.json_objects import NothingAsked, UnusableAnswer
from bythebook.adapters.providers.resilience import MODEL, Provider
from bythebook.adapters.providers.vendor_errors import error_from_exception
from bythebook.domain.usage import Usage
from bythebook.errors import BadAnswer, ModelFailed, ModelTimeout, PartFailed

# Never send traces, whatever the base URL and the keys in the environment.
set_tracing_disabled(disabled=True)
_REPAIR_CHARACTERS = 4000  # of an answer that the model is asked to correct
T = TypeVar("T")
Prompt = str | list[TResponseInputItem]


@dataclass(slots=True)
class AgentContext:
    """The task of an agent, as guardrails and tools see it."""

    question: str


@dataclass(frozen=True, slots=True)
class AgentTask:
    """An agent with its prompt, its context, and the conversation so far."""

    agent: Agent[AgentContext]
    prompt: str
    context: AgentContext
    session: Session | None = None


def make_model_provider() -> Provider:
    """Make the provider of a language model, with its time limits and its breaker."""
    return Provider(MODEL_VENDOR.name, ModelFailed, MODEL, timed_out=ModelTimeout)


class ModelCalls:
    """Opens requests to one endpoint; all of them share a breaker."""

    def __init__(self, endpoint: ModelEndpoint, provider: Provider | None = None) -> None:
        self.endpoint = endpoint
        self._provider = provider or make_model_provider()

    def has_worked_within(self, seconds: float) -> bool:
        """Return True if the model answered so recently that no check is needed."""
        return self._provider.has_worked_within(seconds)

    @asynccontextmanager
    async def request(self, what: str, model: str | None = None) -> AsyncIterator["ModelRequest"]:
        """Open a request of one or more calls, which share one time limit."""
        async with self._provider.stream(what) as timer:
            meter = RequestMeter()
            client = WatchedClient(self.endpoint, timer, meter)
            request = ModelRequest(client, self.endpoint.provider_model(model), meter)
            try:
                yield request
            finally:
                await client.close_streams()

    async def request_reply(
        self, what: str, model: str | None, task: AgentTask, read: Callable[[str], T]
    ) -> tuple[T, Usage]:
        """Return what `read` makes of one reply, and its usage; BadAnswer if it is unusable."""
        reply: T | UnusableAnswer
        async with self.request(what, model) as request:
            try:
                reply = await request.read_reply(task, read)
            except UnusableAnswer as error:  # raised below: a bad form is not an outage
                reply = error
            usage = request.take_usage()
        if isinstance(reply, UnusableAnswer):
            raise bad_answer_error(reply)
        return reply, usage


class ModelRequest:
    """The calls of one request to a model."""

    def __init__(self, client: WatchedClient, model: str, meter: RequestMeter) -> None:
        self._model = OpenAIChatCompletionsModel(model, client)
        self._meter = meter

    def take_usage(self) -> Usage:
        """Return the usage since the last call of this method."""
        return self._meter.take_usage()

    async def stream_text(
        self,
        agent: Agent[AgentContext],
        prompt: Prompt,
        context: AgentContext,
        session: Session | None = None,
    ) -> AsyncGenerator[str]:
        """Yield an agent's text of one turn, as it arrives."""
        async with aclosing(self.stream_run(agent, prompt, context, session=session)) as pieces:
            async for _, piece in pieces:
                yield piece

    async def stream_run(
        self,
        agent: Agent[AgentContext],
        prompt: Prompt,
        context: AgentContext,
        *,
        session: Session | None = None,
        most_turns: int = 1,
    ) -> AsyncGenerator[tuple[str, str]]:
        """Yield the names of agents and pieces of their text, as they arrive, across handoffs."""
        run = Runner.run_streamed(
            agent,
            prompt,
            context=context,
            max_turns=most_turns,
            run_config=RunConfig(
                model=self._model, tracing_disabled=True, trace_include_sensitive_data=False
            ),
            session=session,
        )
        writer = agent.name
        try:
            async for event in run.stream_events():
                if event.type == "agent_updated_stream_event":
                    writer = event.new_agent.name
                elif event.type == "raw_response_event" and isinstance(
                    event.data, ResponseTextDeltaEvent
                ):
                    yield writer, event.data.delta
        except (ModelBehaviorError, MaxTurnsExceeded):
            raise UnusableAnswer("it is not in the form described") from None
        except InputGuardrailTripwireTriggered:
            raise NothingAsked("it asks nothing of the book") from None
        except PartFailed:
            raise
        except Exception as error:  # noqa: BLE001 - all SDK errors become ours here
            raise error_from_exception(MODEL_VENDOR, error) from None
        finally:
            run.cancel()

    async def read_reply(self, task: AgentTask, read: Callable[[str], T]) -> T:
        """Return what `read` makes of an agent's reply; the agent may correct its form once."""
        text = ""
        try:
            async with aclosing(self._stream_task(task, task.prompt)) as pieces:
                async for piece in pieces:
                    text += piece
            return read(text)
        except UnusableAnswer as error:
            again = make_repair_prompt(task.prompt, text, error)
        async with aclosing(self._stream_task(task, again)) as pieces:
            return read("".join([piece async for piece in pieces]))

    def _stream_task(self, task: AgentTask, prompt: Prompt) -> AsyncGenerator[str]:
        return self.stream_text(task.agent, prompt, task.context, task.session)


def make_repair_prompt(
    prompt: str, written: str, error: UnusableAnswer
) -> list[TResponseInputItem]:
    """Ask for a correction, with the reason; an empty reply cannot be corrected."""
    if not written.strip():
        raise error
    return [
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": written[:_REPAIR_CHARACTERS]},
        {"role": "user", "content": REPAIR.format(reason=error)},
    ]


def bad_answer_error(error: UnusableAnswer) -> BadAnswer:
    """Make the error of a model that did not keep to the form, even when asked again."""
    return BadAnswer(
        f"The language model's answer cannot be used: {error}.",
        "Ask again; if the problem persists, set BYTHEBOOK_LLM_MODEL to a better model.",
    )


def make_settings(**more: Any) -> ModelSettings:
    """Make the settings of every call: no randomness, usage reported, nothing stored."""
    return ModelSettings(temperature=0.0, include_usage=True, store=False, **more)
