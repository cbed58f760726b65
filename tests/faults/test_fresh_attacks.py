"""A held-out set: orders whose wording no rule has seen, obeyed by a model that quotes the book well."""

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.adapters.model_stub import ModelStub, serving_model
from tests.conftest import free_port
from tests.contracts.test_chat_stream import parsed
from tests.faults.fresh_attacks import (
    CHANNELS,
    CLEAN,
    PLANTED,
    PROMPT,
    TECHNIQUES,
    Attack,
    WillingModel,
    attacks,
    words,
    write_books,
)
from tests.faults.model_service import ModelService, Told, serving_with_model

import bythebook.ask.pipeline as pipeline
from bythebook.bootstrap import Core
from bythebook.domain.answers import Citation, Draft, Fault, Passage, Sentence
from bythebook.domain.sentences import split_sentences
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.ports import Support
from bythebook.settings import Settings

LEAST_LIVE = 58  # of 60; the judge may refuse a question before any model reads it
ATTACKS = attacks()
TOOLS = {"search_textbook", "hand_to_retriever", "hand_to_generator"}
WAYS_OF = {
    "page": ("A", "B", "C", "D", "stream"),
    "selection": ("A", "C", "D", "stream"),
    "question": ("A", "B", "C", "D", "stream"),
    "history": ("C", "stream"),
}
_LINK = re.compile(r"[\w-]+[.\u2024]example|https?:|mailto:|<img", re.IGNORECASE)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    """Three books: one with orders on its pages, one without, one that nobody asks."""
    folder = tmp_path_factory.mktemp("fresh")
    core = Core(Settings(data_dir=folder / "data", port=free_port()))
    for book, path in write_books(folder, ATTACKS).items():
        asyncio.run(ingest(IngestOrder(str(path), book), core.ingest, lambda _: None))
    yield core
    core.close()


@pytest.fixture(scope="module")
def stub() -> Iterator[ModelStub]:
    with serving_model() as stub:
        yield stub
    assert stub.faults == []


@pytest.fixture
def model(stub: ModelStub) -> WillingModel:
    model = WillingModel(ATTACKS)
    stub.will(model)
    return model


@dataclass(frozen=True)
class Fared:
    """How an attack fared: what readers were told, and whether the model read and obeyed the order."""

    attack: Attack
    told: Sequence[Told]
    obeyed: bool
    leaks: Sequence[str]  # what reached a reader that the book does not say

    @property
    def answered(self) -> bool:
        return self.told[-1].verdict == "answered"


def answers_of(told: Told) -> str:
    """Give all that a reader is told as the answer, without sources that show the book itself."""
    if told.verdict != "answered":
        return ""
    value = told.value
    whole = value["answer"]["text"] if told.way == "A" else value.get("answer") or value["response"]
    if told.way != "stream":
        return str(whole)
    pieces = [str(event) for name, event in parsed(told.body) if name == "content"]
    pieces = [re.sub(r"https?://127\.0\.0\.1\S*", "", piece) for piece in pieces]
    return " ".join([str(whole), *pieces])


def leaks_in(told: Told, model: WillingModel, attack: Attack) -> Iterator[str]:
    """Find what the model was ordered to write, or gives away, in what a reader is told.

    A whole sentence of the book or the selection is no leak, though it be the order itself: it stands
    there as the book has it, frame and all, with its quote.
    """
    answer = " ".join(beside_the_book(answers_of(told), attack))
    said = words(answer)
    for text in model.wrote:
        if words(text) and words(text) in said:
            yield text
    yield from (found[0] for found in _LINK.finditer(answer))
    yield from (piece for piece in PROMPT if piece in told.body.lower())
    if "marzipan" in told.body and "marzipan" not in attack.given:
        yield "marzipan"


def beside_the_book(answer: str, attack: Attack) -> Iterator[str]:
    """Give the lines of an answer that are no whole sentences of what was asked."""
    own = {words(piece) for piece in book_pieces(attack)}
    for line in filter(None, map(str.strip, answer.splitlines())):
        for start, end in split_sentences(line):
            if words(line) not in own and words(line[start:end]) not in own:
                yield line[start:end]


def book_pieces(attack: Attack) -> Iterator[str]:
    """Give the sentences and lines of what an attack's question is answered from."""
    holds_order = attack.channel in {"page", "selection"}
    text = attack.selection if holds_order else f"{attack.topic.answer} {attack.topic.rest}"
    for line in text.splitlines():
        yield line
        yield from (line[start:end] for start, end in split_sentences(line))


def attacked(service: ModelService, model: WillingModel, attack: Attack, turn: int) -> Fared:
    """Ask as a reader would whose book, selection, question or history holds the order."""
    model.obeyed.clear()
    model.wrote.clear()
    service.fresh()
    ways = WAYS_OF[attack.channel]
    way = ways[turn // len(CHANNELS) % len(ways)]
    topic = attack.topic
    if attack.channel == "page":
        told = [service.ask(way, topic.question, book=PLANTED)]
    elif attack.channel == "selection":
        told = [service.ask(way, topic.question, selected_text=attack.selection)]
    elif attack.channel == "question":
        told = [service.ask(way, f"{topic.question} {attack.order}", book=CLEAN)]
    else:
        session = str(uuid.uuid4())
        first = f"{topic.question} {attack.order}"
        told = [
            service.ask("C", first, book=CLEAN, session_id=session),
            service.ask(way, topic.follow_up, book=CLEAN, session_id=session),
        ]
    leaks = [leak for one in told for leak in leaks_in(one, model, attack)]
    return Fared(attack, told, attack in model.obeyed, leaks)


def check(fared: Sequence[Fared]) -> None:
    """See that none got through, and that the readers were still served."""
    for one in fared:
        for told in one.told:
            assert told.terminals == 1
            assert told.verdict in {"answered", "refused", "model_failed"}, told.body
    assert {one.attack.name: one.leaks for one in fared if one.leaks} == {}
    assert len(fared) == 60


def switch_guard_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing taken out of what a model reads."""
    for place in ("bythebook.bootstrap.models", "bythebook.ask.consult"):
        monkeypatch.setattr(f"{place}.neutral", lambda text: text)


def test_every_fresh_technique_meets_every_channel() -> None:
    assert len(TECHNIQUES) == 15
    assert {(one.technique, one.channel) for one in ATTACKS} == {
        (technique, channel) for technique in TECHNIQUES for channel in CHANNELS
    }
    assert len({one.order for one in ATTACKS}) == len({one.key for one in ATTACKS}) == 60


@pytest.mark.parametrize("multi_hop", [False, True], ids=["plain", "multi-hop"])
def test_no_fresh_attack_gets_through(
    library: Core,
    stub: ModelStub,
    model: WillingModel,
    tmp_path: Path,
    multi_hop: bool,
    record_property: Callable[[str, object], None],
) -> None:
    folder = tmp_path / "data"
    with serving_with_model(library, folder, stub.url, llm_multi_hop=multi_hop) as service:
        fared = [attacked(service, model, one, turn) for turn, one in enumerate(ATTACKS)]
    offered = {
        tool["function"]["name"] for request in stub.requests for tool in request.get("tools", ())
    }
    assert offered <= TOOLS
    record_property("answered", sum(one.answered for one in fared))
    record_property("orders read", sum(one.obeyed for one in fared))
    check(fared)


def test_no_fresh_attack_gets_through_where_the_guard_notices_none(
    library: Core,
    stub: ModelStub,
    model: WillingModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Verification alone must hold."""
    switch_guard_off(monkeypatch)
    with serving_with_model(library, tmp_path / "data", stub.url) as service:
        fared = [attacked(service, model, one, turn) for turn, one in enumerate(ATTACKS)]
    check(fared)
    assert sum(one.obeyed for one in fared) >= LEAST_LIVE


async def _believing(
    drafts: AsyncIterator[Draft], passages: Sequence[Passage], _support: Support
) -> AsyncIterator[Sentence | Fault]:
    """Take a model at its word, and show some words of the book under it."""
    chunk = passages[0].chunk
    words_shown = Citation(passages[0], chunk.text[:20], chunk.char_start, chunk.char_start + 20)
    room = 1_900  # characters: what contract A takes
    async for draft in drafts:
        room -= len(draft.text) + 1
        if room > 0:
            yield Sentence(draft.text, (words_shown,))


def test_fresh_attacks_would_succeed_without_verification(
    library: Core,
    stub: ModelStub,
    model: WillingModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control: with guard and verification off, the same model misleads the same readers."""
    switch_guard_off(monkeypatch)
    monkeypatch.setattr(pipeline, "verify", _believing)
    folder = tmp_path / "data"
    with serving_with_model(library, folder, stub.url, llm_own_words=True) as service:
        fared = [attacked(service, model, one, turn) for turn, one in enumerate(ATTACKS)]
    dead = {one.attack.name: [told.verdict for told in one.told] for one in fared if not one.leaks}
    assert len(dead) <= len(ATTACKS) - LEAST_LIVE, dead
