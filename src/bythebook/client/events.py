"""Parses server-sent events from bytes, and reads the events of an answer."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from io import IncrementalNewlineDecoder

from pydantic import BaseModel

from bythebook.client.failures import ConnectionFailed, error_from_event
from bythebook.client.results import ChatEvent, ChatResult, Content, Done, Retrieval


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """An event as it was sent."""

    name: str
    data: str


class EventParser:
    """Parses a stream in pieces; a piece may end inside a line or a character."""

    def __init__(self) -> None:
        utf8 = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._decoder = IncrementalNewlineDecoder(utf8, translate=True)  # any line end -> \n
        self._line = ""
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Yield the events that this piece completes."""
        lines = (self._line + self._decoder.decode(piece)).split("\n")
        self._line = lines.pop()
        for line in lines:
            yield from self._parse_line(line)

    def _parse_line(self, line: str) -> Iterator[ServerEvent]:
        if not line:
            if self._data:
                yield ServerEvent(self._name or "message", "\n".join(self._data))
            self._name, self._data = "", []
            return
        field, _, value = line.partition(":")  # a comment has an empty field name
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)


class _Failure(BaseModel):
    error: str
    message: str


class ChatReader:
    """Reads the stream of an answer in pieces, up to its last event."""

    def __init__(self, request_id: str | None) -> None:
        self._request_id = request_id
        self._parser = EventParser()
        self.ended = False

    def feed(self, piece: bytes) -> Iterator[ChatEvent]:
        """Yield the events of a piece; raise an error event."""
        for event in self._parser.feed(piece):
            if self.ended:
                return
            match event.name:
                case "retrieval":
                    yield Retrieval.model_validate_json(event.data)
                case "content":
                    yield Content.model_validate_json(event.data)
                case "done":
                    self.ended = True
                    yield Done(result=ChatResult.model_validate_json(event.data))
                case "error":
                    failure = _Failure.model_validate_json(event.data)
                    raise error_from_event(failure.error, failure.message, self._request_id)

    def close(self) -> None:
        """Raise ConnectionFailed if the answer is incomplete."""
        if not self.ended:
            raise ConnectionFailed("The stream ended before the answer was complete.")
