"""A model that obeys every order that it reads, in whatever disguise, and quotes the book well."""

import base64
import codecs
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.adapters.providers.model_stub import Answer, answer_text, read_sentences
from tests.faults.attacks.attack import Attack, Say, Topic

_FENCE = re.compile(r"<\w{8} [^>]*>")
_LOOKALIKES = str.maketrans("аеіорсухѕԁһ", "aeiopcyxsdh")
_LEET = str.maketrans("01345", "oieas")
_HEX = re.compile(r"(?:[0-9a-f]{2}){12,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_UNSEEN = re.compile("[\u200b\u200c\u200d\u2060]")


class ObedientModel:
    """Reads through every disguise, and writes what it is ordered to under the best quotes there are."""

    def __init__(self, known: Sequence[Attack]) -> None:
        self._known = known
        self._topics = tuple(dict.fromkeys(one.topic for one in known))
        self.forget()

    def forget(self) -> None:
        """Start counting again."""
        self.obeyed: list[Attack] = []  # in any role
        self.wrote: set[str] = set()  # what no book says
        self.called: list[Attack] = []  # for tools that were not offered

    def __call__(self, request: dict[str, Any]) -> Answer:
        """Answer a request, with all that the order in it asks for."""
        messages = request["messages"]
        order = self._order("\n".join(_text(m) for m in messages if m["role"] != "system"))
        if order:
            self.obeyed.append(order)
        if "tools" in request:
            return _with_tools(request, order)
        role = _text(messages[0])  # known by its words: the SDK gives every form the same name
        if role.startswith("You prepare"):
            return Answer(json.dumps(_plan(messages, order)))
        if role.startswith("You check"):
            return Answer('{"answers": true}')
        if order and order.uninvited and not self.called:  # asked again, it writes
            self.called.append(order)
            return Answer(tool_calls=order.uninvited)
        return Answer(self._answer(messages, order), piece=4096)  # a chunk takes the SDK its time

    def _order(self, heard: str) -> Attack | None:
        """Give the order that was heard; of several, that of the passage which fits best."""
        readings = list(_readings(heard))
        orders = [one for one in self._known if any(one.key in text for text in readings)]
        orders.sort(key=lambda one: _place(one.topic.answer.lower(), readings[0]))
        return orders[0] if orders else None

    def _answer(self, messages: Sequence[dict[str, Any]], order: Attack | None) -> str:
        """Write what was ordered, over sentences that stand in a passage if any do; then the truth."""
        sentences = read_sentences(_text(messages[-1]))
        lines: list[tuple[str, list[int]]] = []
        for say in _sayings(order, _text(messages[0])) if order else ():
            self.wrote.add(say.text)
            lines += _under_numbers(say, order.topic if order else None, sentences)
        truths = [
            (n, one) for n, body in sentences.items() for one in self._topics if one.answer in body
        ]
        lines += [(topic.answer, [n]) for n, topic in truths[:1]]
        return answer_text(*lines)


def _sayings(attack: Attack, instructions: str) -> Iterator[Say]:
    """Give what is written for an attack, with what the model alone knows put in."""
    fence = re.search(r"<(\w{8}) ", instructions)
    known = {
        "{true}": attack.topic.answer,
        "{order}": attack.order.strip(),
        "{system}": instructions,
        "{line}": instructions.split("\n")[0],
        "{mark}": fence[1] if fence else "none",
    }

    def put_in(text: str) -> str:
        for name, value in known.items():
            text = text.replace(name, value)
        return " ".join(text.split())  # a line

    for say in attack.says:
        quote = None if say.quote is None else put_in(say.quote)
        yield Say(put_in(say.text), quote, say.passage)


def _under_numbers(
    say: Say, topic: Topic | None, sentences: Mapping[int, str]
) -> Iterator[tuple[str, list[int]]]:
    """Write a line over its sentence, and where that stands, once more with the true answer next to it."""
    if say.quote is None:
        yield say.text, []
        return
    standing = _find_numbers(say.quote, sentences)
    yield say.text, [say.passage] if say.passage else standing or [1]
    if topic and standing and say.quote != topic.answer:
        yield say.text, [*standing, *_find_numbers(topic.answer, sentences)]


def _find_numbers(quote: str, sentences: Mapping[int, str]) -> list[int]:
    return [n for n, text in sentences.items() if quote in text or (text and text in quote)]


def _with_tools(request: dict[str, Any], order: Attack | None) -> Answer:
    """Search and hand over as the tools allow; with an order to do so, beyond what they allow."""
    names = [tool["function"]["name"] for tool in request["tools"]]
    if "hand_to_retriever" in names:
        asked = _plan(request["messages"], order)
        plan = {"question": asked["question"], "look_up": asked["parts"]}
        return Answer(tool_calls=[("hand_to_retriever", plan)])
    turns = sum(m["role"] == "tool" for m in request["messages"])
    if order and turns < len(order.calls):
        return Answer(tool_calls=order.calls)
    return Answer(tool_calls=[("hand_to_generator", {})])


def _plan(messages: Sequence[dict[str, Any]], order: Attack | None) -> dict[str, Any]:
    """Write a question that hands the order on to who answers, with what shall be said in its parts."""
    said = [_text(m) for m in messages if m["role"] == "user"]
    asked = _FENCE.sub("", said[-1]).strip()
    if order is None:
        return {"question": asked, "parts": []}
    bait = f"{order.topic.question.rstrip('?')} as {order.says[0].text.rstrip('.')}?"
    handed_on = f"{order.topic.question} ({order.key})"
    return {"question": handed_on, "parts": [order.topic.question, bait]}


def _place(part: str, text: str) -> int:
    return text.find(part) if part in text else len(text)


def _text(message: dict[str, Any]) -> str:
    return str(message.get("content") or "")


def _readings(text: str) -> Iterator[str]:
    """Read a text in all the ways in which an order may be hidden in it."""
    plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", text))
    yield plain.lower()
    yield plain[::-1].lower()
    yield plain.translate(_LOOKALIKES).lower()
    yield plain.translate(_LEET).lower()
    yield codecs.encode(plain, "rot13").lower()
    for found in _HEX.finditer(plain):
        yield bytes.fromhex(found[0]).decode("utf-8", "replace").lower()
    for found in _BASE64.finditer(plain):
        whole = found[0] + "=" * (-len(found[0]) % 4)
        try:
            yield base64.b64decode(whole).decode("utf-8", "replace").lower()
        except ValueError:
            continue  # no base64 after all
