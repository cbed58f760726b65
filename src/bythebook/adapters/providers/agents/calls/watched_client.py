"""A client of chat completions that checks the time, the size and the end of every stream.

The Agents SDK treats some failures as an empty success: a status 200 with an error in its body, a
stream that ends with finish_reason "error", and one that is cut off before any finish_reason. So
each stream is checked before the SDK sees it.
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

from bythebook.adapters.providers.agents.calls.endpoint import MODEL_VENDOR, ModelEndpoint
from bythebook.adapters.providers.agents.calls.size_limits import ResponseTooLarge
from bythebook.adapters.providers.connection import NO_KEY
from bythebook.adapters.providers.resilience import StreamTimer
from bythebook.adapters.providers.vendor_errors import error_from_exception, error_from_status
from bythebook.domain.usage import Usage
from bythebook.errors import BadAnswer, ModelFailed, PartFailed

MOST_CHARACTERS = 1_000_000  # that a model may write for one request
_GOOD_ENDS = frozenset({"stop", "tool_calls", "function_call", "end_turn", "eos", "stop_sequence"})
_ENDS = {
    "length": (
        "stopped its answer at its token limit",
        "Set BYTHEBOOK_LLM_MODEL to a model that writes more.",
    ),
    "content_filter": (
        "withheld its answer because of a filter",
        "Ask in other words, or set another model.",
    ),
}
# These make answers better or cheaper, but some models or servers reject them.
_OPTIONAL = (
    "response_format",
    "temperature",
    "max_tokens",
    "stream_options",
    "store",
    "parallel_tool_calls",
)


class RequestMeter:
    """Counts the cost and the characters of one request."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._written = 0

    def add_characters(self, characters: int) -> None:
        """Count characters; raise BadAnswer if there are too many."""
        self._written += characters
        if self._written > MOST_CHARACTERS:
            raise BadAnswer(
                "The language model wrote more than an answer may have.",
                "Ask again; if the problem persists, set BYTHEBOOK_LLM_MODEL to another model.",
            )

    def take_usage(self) -> Usage:
        """Return the usage since the last call of this method."""
        usage, self.usage = self.usage, Usage()
        return usage

    def add_usage(self, reported: Any) -> None:
        """Add the usage that a provider reported, with its price if there is one."""
        prompt, completion = (
            _read_count(reported, f"{kind}_tokens") for kind in ("prompt", "completion")
        )
        usd = getattr(reported, "cost", None)
        price = float(usd) if isinstance(usd, int | float) and 0 <= usd < 1e6 else None
        self.usage += Usage(prompt, completion, price)


class WatchedClient(AsyncOpenAI):
    """A client for one request that checks its streams."""

    def __init__(self, endpoint: ModelEndpoint, timer: StreamTimer, meter: RequestMeter) -> None:
        super().__init__(
            api_key=endpoint.api_key or NO_KEY,
            base_url=endpoint.base_url,
            max_retries=0,
            http_client=endpoint.http,
        )
        self.organization = self.project = None  # the environment's values belong to another key
        self.endpoint = endpoint
        self.timer = timer
        self.meter = meter
        self.streams: list[AsyncStream[ChatCompletionChunk]] = []

    async def close_streams(self) -> None:
        """Close the connections of this request; this also stops an record_abandonment answer."""
        for stream in self.streams:
            await stream.close()

    @cached_property
    def chat(self) -> AsyncChat:
        """The chat completions, with checks."""
        return _WatchedChat(self)

    def copy(self, **_options: Any) -> Self:
        """Return itself: the SDK would only switch retries off, and they are off."""
        return self

    with_options = copy


class _WatchedChat(AsyncChat):
    _client: WatchedClient

    @cached_property
    def completions(self) -> AsyncCompletions:
        return _WatchedCompletions(self._client)


class _WatchedCompletions(AsyncCompletions):
    _client: WatchedClient

    async def create(self, **given: Any) -> Any:
        """Send a request; a parameter that the model rejects is left out from then on."""
        client = self._client
        rejected = client.endpoint.rejected.setdefault(str(given["model"]), set())
        arguments = {
            name: value
            for name, value in given.items()
            if name not in rejected and not isinstance(value, Omit)
        }
        if client.endpoint.reports_price:
            arguments["extra_body"] = {"usage": {"include": True}}
        while True:
            try:
                stream = await client.timer.wait_for(super().create(**arguments))
            except (BadRequestError, UnprocessableEntityError) as error:
                option = _find_rejected_option(error, arguments)
                if option is None:
                    raise error_from_exception(MODEL_VENDOR, error) from None
                rejected.add(option)
                del arguments[option]
            except Exception as error:  # noqa: BLE001 - all SDK errors become ours here
                raise error_from_exception(MODEL_VENDOR, error) from None
            else:
                client.streams.append(stream)
                return WatchedStream(stream, client.timer, client.meter)


class WatchedStream:
    """The chunks of one answer; it succeeds only if the model says that it has ended."""

    def __init__(
        self, stream: AsyncStream[ChatCompletionChunk], timer: StreamTimer, meter: RequestMeter
    ) -> None:
        self.response = stream.response
        self._stream = stream
        self._timer = timer
        self._meter = meter
        self._end: str | None = None
        self._usage_chunk: Any = None

    def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        return self

    async def __anext__(self) -> ChatCompletionChunk:
        """Return the next chunk within the time limit."""
        try:
            await self._require_event_stream()
            chunk = await self._timer.wait_for(anext(self._stream))
        except StopAsyncIteration:
            self._record_usage()
            self._require_end()
            raise
        except PartFailed:
            self._record_usage()
            raise
        except Exception as error:  # noqa: BLE001 - all SDK errors become ours here
            self._record_usage()
            raise _read_stream_error(error) from None
        self._record_chunk(chunk)
        return chunk

    async def close(self) -> None:
        """Close the connection."""
        await self._stream.close()

    async def _require_event_stream(self) -> None:
        """Raise the error in a JSON body: some servers send it with status 200 instead of a stream."""
        kind = self.response.headers.get("content-type", "")
        if not kind.startswith("application/json"):
            return
        body = await self._timer.wait_for(self.response.aread())
        raise error_from_status(MODEL_VENDOR, self.response.status_code, body)

    def _record_chunk(self, chunk: ChatCompletionChunk) -> None:
        if getattr(chunk, "usage", None):
            self._usage_chunk = chunk.usage
        for choice in chunk.choices or ():
            if choice.finish_reason:
                self._end = choice.finish_reason
            delta: ChoiceDelta | None = choice.delta  # some servers omit it
            if delta is not None and (written := _count_characters(delta)):
                self._timer.record_token()
                self._meter.add_characters(written)

    def _record_usage(self) -> None:
        if self._usage_chunk is not None:
            self._meter.add_usage(self._usage_chunk)
            self._usage_chunk = None

    def _require_end(self) -> None:
        if self._end in _GOOD_ENDS:
            return
        if self._end in _ENDS:
            what, to_do = _ENDS[self._end]
            raise BadAnswer(f"{MODEL_VENDOR.name} {what}.", to_do)
        raise ModelFailed(
            f"{MODEL_VENDOR.name} did not finish its answer.",
            "Try again; if the problem persists, set another model.",
        )


def _count_characters(delta: ChoiceDelta) -> int:
    """Count the characters of a chunk: text, reasoning and tool calls."""
    reasoning = (
        getattr(delta, name, None) for name in ("reasoning", "reasoning_content", "refusal")
    )
    texts = [delta.content, *reasoning]
    for call in delta.tool_calls or ():
        texts += (call.function.name, call.function.arguments) if call.function else ()
    return sum(len(text) for text in texts if isinstance(text, str))


def _read_stream_error(error: Exception) -> PartFailed:
    """Find out why a stream failed; an error in it may contain a status."""
    if isinstance(error, ResponseTooLarge):
        return BadAnswer(
            "The language model sent more than an answer may have.",
            "Ask again; if the problem persists, set BYTHEBOOK_LLM_MODEL to another model.",
        )
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, Mapping) else None
    if isinstance(error, APIError) and isinstance(code, int) and 400 <= code < 600:
        return error_from_status(MODEL_VENDOR, code, body)
    return error_from_exception(MODEL_VENDOR, error)


def _find_rejected_option(error: APIError, arguments: Mapping[str, Any]) -> str | None:
    """Find the optional parameter that an error names."""
    text = f"{error.param or ''} {error.body}".lower()
    text = text.replace("json_schema", "response_format").replace("json schema", "response_format")
    return next((name for name in _OPTIONAL if name in text and name in arguments), None)


def _read_count(reported: Any, name: str) -> int:
    value = getattr(reported, name, None)
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0
