import asyncio
import math
from dataclasses import replace

import pytest
from tests.unit.fakes import (
    MODEL,
    FakeCalibrations,
    FakeEmbedder,
    FakeIndex,
    FakeJudge,
    FakeLibrary,
    FakeSupport,
    UntouchableIndex,
    make_book,
    make_chunk,
)

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.pipeline import answer
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.read.confidence import similarities
from bythebook.ask.retrieve.relevance import relevance_map
from bythebook.ask.run import AnswerRun
from bythebook.domain.answers import Answered, Event, Hit, Judged, Refused, Retrieved
from bythebook.domain.books import Chunk
from bythebook.domain.questions import Question, Scope, SectionSpan
from bythebook.errors import UnknownBook

GAITS = make_chunk("A gait is a pattern of steps.", char_start=10, anchor="gaits", section="Gaits")
HOPS = make_chunk("Hopping needs springs.", char_start=100, anchor="hops", section="Hops")
ARMS = make_chunk("An arm has joints.", char_start=200, anchor="arms", section="Arms")
HOPS_SECTION = SectionSpan("robots", "walking", 90, 150)
TWO_BOOKS = FakeLibrary(shelf=(make_book("birds"), make_book("robots")))


def hit(chunk: Chunk, relevance: float) -> Hit:
    bundled = relevance_map(MODEL)
    return Hit(chunk, bundled.midpoint + math.log(relevance / (1 - relevance)) / bundled.slope, 0.0)


HITS = (hit(GAITS, 0.95), hit(ARMS, 0.7), hit(HOPS, 0.55))


def ports(index: FakeIndex | None = None, library: FakeLibrary | None = None) -> AskPorts:
    return AskPorts(
        library=library or FakeLibrary(),
        embedder=FakeEmbedder(),
        index=index or FakeIndex(HITS),
        calibrations=FakeCalibrations(),
        judge=FakeJudge(),
        support=FakeSupport(),
        generator=ExtractiveGenerator(),
        reader_url="http://reader.test",
    )


def events(question: Question, given: AskPorts | None = None) -> list[Event]:
    async def run() -> list[Event]:
        return [event async for event in answer(AnswerRun(question, given or ports()))]

    return asyncio.run(run())


def texts(event: Event) -> list[str]:
    assert isinstance(event, Retrieved | Judged | Answered | Refused)
    return [passage.chunk.text for passage in event.passages]


def first_event(question: Question, kind: type[Event], given: AskPorts | None = None) -> Event:
    return next(event for event in events(question, given) if isinstance(event, kind))


# The least similarity


def test_without_a_least_similarity_nothing_changes() -> None:
    plain, open_to_all = Question("Why?"), Question("Why?", least_similarity=0.0)
    assert make_plan(plain).least_similarity is None
    for kind in (Retrieved, Judged, Answered):
        assert texts(first_event(plain, kind)) == texts(first_event(open_to_all, kind))
    assert len(texts(first_event(plain, Retrieved))) == 3


def test_passages_that_are_less_similar_are_not_judged() -> None:
    given = ports()
    question = Question("Why?", least_similarity=0.75)
    assert texts(first_event(question, Retrieved, given)) == [GAITS.text, ARMS.text]
    assert isinstance(given.judge, FakeJudge)
    assert [passage.chunk for passage in given.judge.seen[0]] == [GAITS, ARMS]
    assert texts(first_event(question, Answered)) == [GAITS.text, ARMS.text]


def test_where_nothing_is_similar_enough_nothing_was_retrieved() -> None:
    given = ports()
    end = first_event(Question("Why?", least_similarity=0.999), Refused, given)
    assert isinstance(end, Refused)
    assert end.refusal_type == "empty_retrieval"
    assert end.passages == ()
    assert [near.section for near in end.nearest_sections] == ["Gaits", "Arms", "Hops"]
    assert isinstance(given.judge, FakeJudge)
    assert given.judge.seen == []


def test_a_least_similarity_that_a_passage_has_exactly_lets_it_pass() -> None:
    retrieved = first_event(Question("Why?"), Retrieved)
    assert isinstance(retrieved, Retrieved)
    least = similarities(retrieved.passages)[1]
    again = first_event(Question("Why?", least_similarity=least), Retrieved)
    assert texts(again) == [GAITS.text, ARMS.text]


def test_a_selection_is_never_too_dissimilar() -> None:
    question = Question("Who?", Scope(selected_text="The cook bakes."), least_similarity=1.0)
    assert isinstance(events(question)[-1], Answered)


# A section


def test_a_section_is_answered_from_its_own_chunks_only() -> None:
    question = Question("Why?", Scope(section=HOPS_SECTION))
    told_all = events(question)
    end = told_all[-1]
    assert isinstance(end, Answered)
    assert end.mode == "standard_rag"
    assert texts(end) == [HOPS.text]


def test_only_the_book_of_the_section_is_searched() -> None:
    index = FakeIndex(HITS)
    events(Question("Why?", Scope(section=HOPS_SECTION)), ports(index, TWO_BOOKS))
    assert [books for _, books, _ in index.searches] == [("robots",)]


def test_a_section_without_chunks_is_refused_as_empty() -> None:
    end = events(Question("Why?", Scope(section=SectionSpan("robots", "walking", 0, 5))))[-1]
    assert isinstance(end, Refused)
    assert end.refusal_type == "empty_retrieval"


def test_a_section_of_a_book_that_may_not_be_read_is_of_an_unknown_book() -> None:
    scope = Scope(section=HOPS_SECTION, readable=("birds",))
    with pytest.raises(UnknownBook, match="robots"):
        events(Question("Why?", scope), ports(UntouchableIndex(), TWO_BOOKS))


def test_a_section_that_is_to_explain_itself_answers_with_how_it_begins() -> None:
    late = replace(make_chunk("Springs store energy.", char_start=130), section="Hops")
    index = FakeIndex([hit(late, 0.05), hit(HOPS, 0.02)])  # "this section" is like no passage
    question = Question("Summarize this section", Scope(section=HOPS_SECTION))
    end = events(question, ports(index))[-1]
    assert isinstance(end, Answered)
    assert end.sentences[0].text == HOPS.text
    unscoped = events(Question("Summarize this section"), ports(index))[-1]
    assert isinstance(unscoped, Refused)


@pytest.mark.parametrize(
    ("changes", "held"),
    [
        ({}, True),
        ({"char_start": 90, "char_end": 150}, True),
        ({"char_start": 89}, False),
        ({"char_end": 151}, False),
        ({"document_id": "other"}, False),
        ({"book_id": "other"}, False),
    ],
)
def test_a_section_holds_what_stands_wholly_in_it(changes: dict[str, object], held: bool) -> None:
    assert HOPS_SECTION.holds(replace(HOPS, **changes)) is held  # type: ignore[arg-type]


# What comes before the answer


def test_the_passages_of_the_answer_are_told_before_its_first_sentence() -> None:
    all_told = events(Question("Why?"))
    judged = next(event for event in all_told if isinstance(event, Judged))
    end = all_told[-1]
    assert isinstance(end, Answered)
    assert judged.passages == end.passages
