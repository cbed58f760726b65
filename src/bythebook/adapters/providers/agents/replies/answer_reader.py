"""Reads a model's answer as it arrives: each sentence as soon as it is complete."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DEEPEST = 12  # levels of nesting in an answer; it needs four
_LIST = re.compile(r'"sentences"\s*:\s*\[')
_NUMBER = re.compile(r"\A\D{0,12}(\d{1,4})\D{0,2}\Z")
_THINKING = re.compile(r"\s*<think>")
_KEPT = 200  # characters: the start of the list may arrive in several pieces
_LOOSE = json.JSONDecoder(strict=False)  # allows line breaks in strings


class UnusableAnswer(Exception):
    """The model's reply does not have the requested form."""


class NothingAsked(UnusableAnswer):
    """No model was called: the question consists of instructions only."""


class InventedAnswer(UnusableAnswer):
    """The form is right, but none of the quotes is in the passages."""


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence as a model wrote it, with quotes and numbers of passages."""

    text: str
    quotes: tuple[tuple[int, str], ...]


class AnswerReader:
    """Reads `{"sentences": [...]}` piece by piece, whatever text is around it.

    Each character is read once, so the cost is linear in the length of the answer.
    """

    def __init__(self) -> None:
        self.sentences: list[WrittenSentence] = []
        self.complete = False  # the list was closed
        self._pieces: list[str] = []
        self._seen = ""  # text before the list that may belong to its start
        self._in_list = False
        self._object = _Object()

    @property
    def written(self) -> str:
        """The whole text so far."""
        return "".join(self._pieces)

    def feed(self, piece: str) -> list[WrittenSentence]:
        """Add a piece, and return the sentences that it completes."""
        self._pieces.append(piece)
        known = len(self.sentences)
        if not self._in_list:
            piece = self._find_list(piece)
        if self._in_list and not self.complete:
            self._read_list(piece)
        return self.sentences[known:]

    def finish(self) -> list[WrittenSentence]:
        """End the answer, and return the sentences of an answer in a looser form."""
        if self.complete:
            return []
        written = self.written
        if not written.strip():
            raise UnusableAnswer("the answer is empty")
        if self.sentences:
            raise UnusableAnswer("the JSON ends in the middle")
        self.sentences = _read_loosely(_drop_thinking(written))
        self.complete = True
        return self.sentences

    def _find_list(self, piece: str) -> str:
        """Return the text after the start of the list; reasoning before it is ignored."""
        self._seen += piece
        if _THINKING.match(self._seen):
            before, ended, after = self._seen.partition("</think>")
            self._seen = after if ended else f"<think>{before[-_KEPT:]}"
            if not ended:
                return ""
        found = _LIST.search(self._seen)
        if found is None:
            self._seen = self._seen if len(self._seen) < _KEPT else self._seen[-_KEPT:]
            return ""
        self._in_list = True
        return self._seen[found.end() :]

    def _read_list(self, piece: str) -> None:
        for letter in piece:
            if self._object.is_open:
                if self._object.take(letter):
                    self.sentences.append(_read_sentence(_parse(self._object.text)))
                    self._object = _Object()
            elif letter == "]":
                self.complete = True
                return
            elif letter == "{":
                self._object.take(letter)
            elif letter != "," and not letter.isspace():
                raise UnusableAnswer('"sentences" must be a list of objects')


class _Object:
    """A JSON object that is being read, letter by letter."""

    def __init__(self) -> None:
        self._count_characters: list[str] = []
        self._depth = 0
        self._in_string = self._escaped = False

    @property
    def is_open(self) -> bool:
        return bool(self._count_characters)

    @property
    def text(self) -> str:
        return "".join(self._count_characters)

    def take(self, letter: str) -> bool:
        """Follow strings and braces; say whether the object ends with this letter."""
        self._count_characters.append(letter)
        if self._in_string:
            closes = letter == '"' and not self._escaped
            self._escaped = letter == "\\" and not self._escaped
            self._in_string = not closes
            return False
        if letter == '"':
            self._in_string = True
        elif letter in "{[":
            self._depth += 1
            if self._depth > DEEPEST:
                raise UnusableAnswer("the JSON is nested too deeply")
        elif letter in "}]":
            self._depth -= 1
        return self._depth == 0


def find_first_object(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text with other text around it."""
    for value in _find_values(_drop_thinking(text)):
        if isinstance(value, dict):
            return value
    raise UnusableAnswer("there is no JSON object in the answer")


def _read_loosely(text: str) -> list[WrittenSentence]:
    """Read a list of sentences, or a single one, without the object around it."""
    for value in _find_values(text):
        listed = value if isinstance(value, list) else [value]
        if listed and all(isinstance(one, dict) and "text" in one for one in listed):
            return [_read_sentence(one) for one in listed]
    raise UnusableAnswer('there is no JSON object with a list "sentences" in the answer')


def _find_values(text: str, most: int = 50) -> Iterator[Any]:
    """Yield the JSON values in a text, from left to right."""
    at = 0
    for _ in range(most):
        starts = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
        if not starts:
            return
        try:
            value, at = _LOOSE.raw_decode(text, min(starts))
        except (ValueError, RecursionError):
            at = min(starts) + 1
        else:
            yield value


def _drop_thinking(text: str) -> str:
    return text.rpartition("</think>")[2] if _THINKING.match(text) else text


def _parse(text: str) -> Any:
    try:
        return _LOOSE.decode(text)
    except (ValueError, RecursionError) as error:
        raise UnusableAnswer(f"the JSON cannot be read: {type(error).__name__}") from None


def _read_sentence(given: Any) -> WrittenSentence:
    text = given.get("text")
    quotes = given.get("quotes")
    if not isinstance(text, str) or not text.strip():
        raise UnusableAnswer('each sentence needs a "text"')
    if not isinstance(quotes, list):
        raise UnusableAnswer('each sentence needs a list "quotes"')
    return WrittenSentence(text.strip(), tuple(_read_quote(one) for one in quotes))


def _read_quote(given: Any) -> tuple[int, str]:
    if not isinstance(given, dict) or not isinstance(given.get("quote"), str):
        raise UnusableAnswer('each of "quotes" needs a "passage" and a "quote"')
    return _read_passage_number(given.get("passage")), given["quote"]


def _read_passage_number(given: Any) -> int:
    """Read 1, "1" or "[passage 1]"."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    found = _NUMBER.match(given) if isinstance(given, str) else None
    if found is None:
        raise UnusableAnswer('"passage" must be the number of a passage')
    return int(found[1])
