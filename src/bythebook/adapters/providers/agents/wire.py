"""Chat completions as they come over the wire, held to their times, their size and a proper end.

The Agents SDK takes for an empty success what is none: a stream that was answered by a status 200
with an error in its body, one that ends in finish_reason "error", and one that is cut before any
finish_reason came. So each stream is watched before the SDK sees it.
"""

from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from typing import Any, Self

from openai import (
    APIError,
    AsyncOpenAI,
    AsyncStream,
    BadRequestError,
    Omit,
    UnprocessableEntityError,
)
from openai.resources.chat import AsyncChat
from openai.resources.chat.completions import AsyncCompletions
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import ChoiceDelta

from bythebook.adapters.providers.agents.bounded import TooLarge
from bythebook.adapters.providers.agents.connection import MODEL_VENDOR, NO_KEY, Connection
from bythebook.adapters.providers.resilience import Stream
from bythebook.adapters.providers.vendor_errors import failure_of, failure_of_status
from bythebook.domain.usage import Usage
from bythebook.errors import BadAnswer, ModelFailed, PartFailed

MOST_CHARACTERS = 1_000_000  # of all that a model writes for one request
_GOOD_ENDS = frozenset({"stop", "tool_calls", "function_call", "end_turn", "eos", "stop_sequence"})
_ENDS = {
    "length": (
        "broke off its answer at its limit of tokens",
        "Set BYTHEBOOK_LLM_MODEL to a model that writes more.",
    ),
    "content_filter": (
        "withheld its answer by a filter",
        "Ask in other words, or set another model.",
    ),
}
# What makes answers better or cheaper, but not every model or server takes.
_OPTIONAL = ("response_format", "temperature", "stream_options", "store", "parallel_tool_calls")


class Meter:
    """Counts what the calls of one request cost and how much they wrote."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._written = 0

    def wrote(self, characters: int) -> None:
        """Count what came; more than an answer may be is a failure."""
        self._written += characters
        if self._written > MOST_CHARACTERS:
            raise BadAnswer(
                "The language model wrote more than an answer can be.",
                "Ask again; if it stays so, set BYTHEBOOK_LLM_MODEL to another model.",
            )

    def since_told(self) -> Usage:
        """Give what was spent since this was last asked."""
        usage, self.usage = self.usage, Usage()
        return usage

    def spent(self, told: Any) -> None:
        """Add what a provider says a call took; its price, where it is told."""
        prompt, completion = (_count(told, f"{kind}_tokens") for kind in ("prompt", "completion"))
        usd = getattr(told, "cost", None)
        price = float(usd) if isinstance(usd, int | float) and 0 <= usd < 1e6 else None
        self.usage += Usage(prompt, completion, price)


class WatchedClient(AsyncOpenAI):
    """A client for one request, whose streams are watched."""

    def __init__(self, connection: Connection, stream: Stream, meter: Meter) -> None:
        super().__init__(
            api_key=connection.api_key or NO_KEY,
            base_url=connection.base_url,
            max_retries=0,
            http_client=connection.http,
        )
        self.organization = self.project = None  # those of the environment belong to another key
        self.connection = connection
        self.stream_times = stream
        self.meter = meter
        self.streams: list[AsyncStream[ChatCompletionChunk]] = []

    async def close_streams(self) -> None:
        """Let go of the connections of this request; an answer that nobody waits for ends here."""
        for stream in self.streams:
            await stream.close()

    @cached_property
    def chat(self) -> AsyncChat:
        """The chat completions, watched."""
        return _WatchedChat(self)

    def copy(self, **_options: Any) -> Self:
        """Give itself: the SDK would only switch retries off, and they are."""
        return self

    with_options = copy


class _WatchedChat(AsyncChat):
    _client: WatchedClient

    @cached_property
    def completions(self) -> AsyncCompletions:
        return _WatchedCompletions(self._client)


class _WatchedCompletions(AsyncCompletions):
    _client: WatchedClient

    async def create(self, **asked: Any) -> Any:
        """Ask; a parameter that the model does not take is left out from then on."""
        client = self._client
        refused = client.connection.refused.setdefault(str(asked["model"]), set())
        asked = {
            name: value
            for name, value in asked.items()
            if name not in refused and not isinstance(value, Omit)
        }
        if client.connection.tells_price:
            asked["extra_body"] = {"usage": {"include": True}}
        while True:
            try:
                stream = await client.stream_times.within(super().create(**asked))
            except (BadRequestError, UnprocessableEntityError) as error:
                named = _named_in(error, asked)
                if named is None:
                    raise failure_of(MODEL_VENDOR, error) from None
                refused.add(named)
                del asked[named]
            except Exception as error:  # noqa: BLE001 - whatever an SDK raises becomes ours here
                raise failure_of(MODEL_VENDOR, error) from None
            else:
                client.streams.append(stream)
                return WatchedStream(stream, client.stream_times, client.meter)


class WatchedStream:
    """The chunks of one answer; ends well only if the model says that it has ended."""

    def __init__(
        self, stream: AsyncStream[ChatCompletionChunk], times: Stream, meter: Meter
    ) -> None:
        self.response = stream.response
        self._stream = stream
        self._times = times
        self._meter = meter
        self._end: str | None = None
        self._tokens_told: Any = None

    def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        return self

    async def __anext__(self) -> ChatCompletionChunk:
        """Give the next chunk, in time."""
        try:
            await self._require_stream()
            chunk = await self._times.within(anext(self._stream))
        except StopAsyncIteration:
            self._close_bill()
            self._require_end()
            raise
        except PartFailed:
            self._close_bill()
            raise
        except Exception as error:  # noqa: BLE001 - whatever an SDK raises becomes ours here
            self._close_bill()
            raise _broken_off(error) from None
        self._note(chunk)
        return chunk

    async def close(self) -> None:
        """Let go of the connection."""
        await self._stream.close()

    async def _require_stream(self) -> None:
        """Tell an answer that is no stream, as an error in the body of a status 200."""
        kind = self.response.headers.get("content-type", "")
        if not kind.startswith("application/json"):
            return
        body = await self._times.within(self.response.aread())
        raise failure_of_status(MODEL_VENDOR, self.response.status_code, body)

    def _note(self, chunk: ChatCompletionChunk) -> None:
        if getattr(chunk, "usage", None):
            self._tokens_told = chunk.usage
        for choice in chunk.choices or ():
            if choice.finish_reason:
                self._end = choice.finish_reason
            delta: ChoiceDelta | None = choice.delta  # some servers leave it out
            if delta is not None and (written := _letters(delta)):
                self._times.token()
                self._meter.wrote(written)

    def _close_bill(self) -> None:
        if self._tokens_told is not None:
            self._meter.spent(self._tokens_told)
            self._tokens_told = None

    def _require_end(self) -> None:
        if self._end in _GOOD_ENDS:
            return
        if self._end in _ENDS:
            what, to_do = _ENDS[self._end]
            raise BadAnswer(f"{MODEL_VENDOR.name} {what}.", to_do)
        raise ModelFailed(
            f"{MODEL_VENDOR.name} broke off its answer.",
            "Try again; if it stays so, set another model.",
        )


def _letters(delta: ChoiceDelta) -> int:
    """Count what a chunk brings: words, thoughts and calls of tools."""
    thought = (getattr(delta, name, None) for name in ("reasoning", "reasoning_content", "refusal"))
    texts = [delta.content, *thought]
    for call in delta.tool_calls or ():
        texts += (call.function.name, call.function.arguments) if call.function else ()
    return sum(len(text) for text in texts if isinstance(text, str))


def _broken_off(error: Exception) -> PartFailed:
    """Say why a stream ended; an error within it may name a status."""
    if isinstance(error, TooLarge):
        return BadAnswer(
            "The language model sent more than an answer can be.",
            "Ask again; if it stays so, set BYTHEBOOK_LLM_MODEL to another model.",
        )
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, Mapping) else None
    if isinstance(error, APIError) and isinstance(code, int) and 400 <= code < 600:
        return failure_of_status(MODEL_VENDOR, code, body)
    return failure_of(MODEL_VENDOR, error)


def _named_in(error: APIError, asked: Mapping[str, Any]) -> str | None:
    """Find the optional parameter that a refusal names."""
    told = f"{error.param or ''} {error.body}".lower()
    told = told.replace("json_schema", "response_format").replace("json schema", "response_format")
    return next((name for name in _OPTIONAL if name in told and name in asked), None)


def _count(told: Any, name: str) -> int:
    value = getattr(told, name, None)
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0
