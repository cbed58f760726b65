import asyncio
import math
from collections.abc import Sequence

import pytest
from tests.unit.fakes import (
    MODEL,
    FakeCalibrations,
    FakeEmbedder,
    FakeGenerator,
    FakeIndex,
    FakeJudge,
    FakeLibrary,
    FakeSupport,
    UntouchableEmbedder,
    UntouchableIndex,
    UntouchableLibrary,
    make_book,
    make_chunk,
    make_passage,
)

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.outcome import find_nearest_sections
from bythebook.ask.pipeline import answer, collect
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.read.verdict import ANSWER_FROM, SURE_FROM, decide, narrow
from bythebook.ask.retrieve.fusion import fuse
from bythebook.ask.retrieve.passages import CANDIDATES, READ_AT_MOST
from bythebook.ask.retrieve.relevance import relevance_map
from bythebook.ask.run import AnswerRun
from bythebook.ask.show.wording import DISCLAIMER
from bythebook.domain.answers import (
    NOTHING_READ,
    Answered,
    Draft,
    Event,
    Evidence,
    Fault,
    Hit,
    Judged,
    Judgement,
    Outcome,
    Passage,
    Planned,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.domain.books import Chunk
from bythebook.domain.questions import Question, Scope
from bythebook.errors import EmbedderFailed, NoBooks, StoreFailed, UnknownBook, WrongEmbedder
from bythebook.ports import Generator

READER = "http://reader.test"
QUESTION = Question("What is a gait?")
GAIT = make_chunk("A gait is a pattern of steps.", "It repeats.", anchor="gaits")
SELECTION = Question("Who?", Scope(selected_text="The cook baked bread. He sold it."))


def cosine_for(relevance: float) -> float:
    """Give the cosine that the map of the fake's embedder shows as a relevance."""
    bundled = relevance_map(MODEL)
    return bundled.midpoint + math.log(relevance / (1 - relevance)) / bundled.slope


FOREIGN, DOUBTFUL, CLOSE = cosine_for(0.3), cosine_for(0.45), cosine_for(0.98)


def hit(cosine: float = CLOSE, chunk: Chunk = GAIT, words: float = 0.0) -> Hit:
    return Hit(chunk, cosine, words)


def ports(
    hits: Sequence[Hit] = (hit(),),
    *,
    library: FakeLibrary | None = None,
    embedder: FakeEmbedder | None = None,
    index: FakeIndex | None = None,
    judge: FakeJudge | None = None,
    generator: Generator | None = None,
    calibrations: FakeCalibrations | None = None,
    support: FakeSupport | None = None,
) -> AskPorts:
    return AskPorts(
        library=library or FakeLibrary(),
        embedder=embedder or FakeEmbedder(),
        index=index or FakeIndex(hits),
        calibrations=calibrations or FakeCalibrations(),
        judge=judge or FakeJudge(),
        support=support or FakeSupport(),
        generator=generator or ExtractiveGenerator(),
        reader_url=READER,
    )


def events(question: Question, given: AskPorts) -> list[Event]:
    async def run() -> list[Event]:
        return [event async for event in answer(AnswerRun(question, given))]

    return asyncio.run(run())


def outcome(given: AskPorts, question: Question = QUESTION) -> Outcome:
    return asyncio.run(collect(question, given))


def refusal(given: AskPorts, question: Question = QUESTION) -> Refused:
    end = outcome(given, question)
    assert isinstance(end, Refused)
    return end


# Events on the way


def test_an_answer_is_told_in_order_and_ends_once() -> None:
    told = events(QUESTION, ports())
    said = [event for event in told if isinstance(event, Sentence)]
    kinds = [type(event) for event in told]
    assert kinds == [Planned, Retrieved, Judged, *[Sentence] * len(said), Answered]
    end = told[-1]
    assert isinstance(end, Answered)
    assert end.sentences == tuple(said)
    assert [one.text for one in said if one.key] == ["A gait is a pattern of steps."]
    assert end.disclaimer is None
    assert end.mode == "standard_rag"
    assert set(end.timings) == {"retrieve", "judge", "compose"}


def test_a_refusal_is_told_in_order_and_ends_once() -> None:
    told = events(QUESTION, ports(judge=FakeJudge(answerable=0.1)))
    assert [type(event) for event in told] == [Planned, Retrieved, Refused]


def test_a_run_whose_drafts_all_fail_ends_in_one_refusal() -> None:
    lies = FakeGenerator([Draft("Robots dream.", ((make_passage("It walks."), "Robots dream."),))])
    told = events(QUESTION, ports(generator=lies))
    assert [type(event) for event in told] == [Planned, Retrieved, Judged, Fault, Refused]


def test_the_plain_call_gives_the_last_event() -> None:
    end = outcome(ports())
    assert isinstance(end, Answered)
    assert end.passages[0].chunk is GAIT


# The selection


def test_a_selection_is_answered_without_embedder_index_or_library() -> None:
    given = ports(
        library=UntouchableLibrary(), embedder=UntouchableEmbedder(), index=UntouchableIndex()
    )
    told = events(SELECTION, given)
    end = told[-1]
    assert isinstance(end, Answered)
    assert end.mode == "selected_text_only"
    (citation,) = end.sentences[0].citations
    assert citation.quote == "The cook baked bread."
    assert (citation.char_start, citation.char_end) == (0, 21)


def test_the_untouchable_parts_do_fail_when_touched() -> None:
    for part in (
        {"library": UntouchableLibrary()},
        {"embedder": UntouchableEmbedder()},
        {"index": UntouchableIndex()},
    ):
        with pytest.raises(AssertionError, match="was used"):
            outcome(ports(**part))


def test_a_selection_that_does_not_answer_is_refused_as_such() -> None:
    end = refusal(ports(judge=FakeJudge(answerable=0.1)), SELECTION)
    assert end.refusal_type == "selected_text_missing"
    assert end.nearest_sections == ()


def test_a_selection_of_which_nothing_survives_is_refused_as_such() -> None:
    end = refusal(ports(generator=FakeGenerator()), SELECTION)
    assert end.refusal_type == "selected_text_missing"


@pytest.mark.parametrize(
    "asked", ["Explain this passage.", "What does this mean?", "Please summarise the selection"]
)
def test_a_selection_asked_to_explain_itself_answers_with_how_it_begins(asked: str) -> None:
    judge = FakeJudge(answerable=0.0)
    end = outcome(ports(judge=judge), Question(asked, SELECTION.scope))
    assert isinstance(end, Answered)
    assert end.sentences[0].text == "The cook baked bread."
    assert judge.seen == []


@pytest.mark.parametrize(
    "question",
    [Question("Explain this passage."), Question("What does the baker earn?", SELECTION.scope)],
)
def test_only_a_selection_can_be_asked_to_explain_itself(question: Question) -> None:
    judge = FakeJudge(answerable=0.0)
    refusal(ports(judge=judge), question)
    assert len(judge.seen) == 1


def test_a_blank_selection_is_refused_and_not_looked_up_in_the_book() -> None:
    given = ports(embedder=UntouchableEmbedder(), index=UntouchableIndex())
    blank = Question("Who?", Scope(selected_text="   "))
    assert refusal(given, blank).refusal_type == "selected_text_missing"


# Refusals


def test_refuses_when_nothing_was_found() -> None:
    judge = FakeJudge()
    end = refusal(ports([], judge=judge))
    assert (end.refusal_type, end.judgement, judge.seen) == ("empty_retrieval", NOTHING_READ, [])


def test_refuses_a_foreign_question_without_asking_the_judge() -> None:
    judge = FakeJudge(answerable=1.0)
    end = refusal(ports([hit(FOREIGN)], judge=judge))
    assert (end.refusal_type, end.judgement, judge.seen) == ("low_relevance", NOTHING_READ, [])


@pytest.mark.parametrize(
    "judge", [FakeJudge(SURE_FROM - 0.01), FakeJudge(0.99, finds_evidence=False)]
)
def test_refuses_a_doubtful_question_unless_the_judge_is_sure(judge: FakeJudge) -> None:
    end = refusal(ports([hit(DOUBTFUL)], judge=judge))
    assert end.refusal_type == "low_relevance"
    assert end.judgement is not None


def test_answers_a_doubtful_question_with_the_disclaimer_when_the_judge_is_sure() -> None:
    told = events(QUESTION, ports([hit(DOUBTFUL)], judge=FakeJudge(SURE_FROM)))
    judged, end = told[2], told[-1]
    assert isinstance(judged, Judged)
    assert isinstance(end, Answered)
    assert judged.disclaimer == end.disclaimer == DISCLAIMER


@pytest.mark.parametrize(
    "judge", [FakeJudge(ANSWER_FROM - 0.01), FakeJudge(0.99, finds_evidence=False)]
)
def test_refuses_when_no_passage_supports_the_answer(judge: FakeJudge) -> None:
    end = refusal(ports(judge=judge))
    assert end.refusal_type == "insufficient_grounding"
    assert end.judgement is not None


def test_refuses_when_nothing_is_left_after_verifying() -> None:
    lies = FakeGenerator([Draft("Robots dream.", ((make_passage("It walks."), "Robots dream."),))])
    assert refusal(ports(generator=lies)).refusal_type == "insufficient_grounding"


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [(0.374, "low_relevance"), (0.375, None), (0.499, None), (0.5, None)],
)
def test_the_boundaries_of_relevance_are_where_the_contract_has_them(
    relevance: float, expected: str | None
) -> None:
    passages = (make_passage("A gait.", relevance=relevance),)
    verdict = asyncio.run(decide(make_plan(QUESTION), passages, FakeJudge(0.8)))
    assert verdict.refusal_type == expected
    assert verdict.cautious == (0.375 <= relevance < 0.5)


def test_the_judge_reads_no_more_than_its_share() -> None:
    judge = FakeJudge()
    passages = tuple(make_passage(f"Sentence {n}.") for n in range(20))
    asyncio.run(decide(make_plan(QUESTION), passages, judge))
    assert judge.seen == [passages[:READ_AT_MOST]]


def test_a_refusal_names_the_nearest_sections_once_each() -> None:
    chunks = [
        make_chunk("One.", anchor="gaits"),
        make_chunk("Two.", anchor="gaits"),
        make_chunk("Three.", anchor="balance", section="Balance"),
    ]
    end = refusal(ports([hit(FOREIGN, chunk) for chunk in chunks]))
    assert {(near.section, near.url) for near in end.nearest_sections} == {
        ("Gaits", f"{READER}/read/robots/walking#gaits"),
        ("Balance", f"{READER}/read/robots/walking#balance"),
    }


def test_no_more_than_three_sections_are_named_nearest_first() -> None:
    found = tuple(Passage(make_chunk("x", anchor=str(n), section=str(n)), 0.2) for n in range(5))
    assert [near.section for near in find_nearest_sections(found, READER)] == ["0", "1", "2"]


# A part that fails is an error, never a refusal


@pytest.mark.parametrize("error", [StoreFailed("The index is gone."), RuntimeError("bug")])
def test_a_failing_index_is_an_error(error: Exception) -> None:
    with pytest.raises(type(error)):
        outcome(ports(index=FakeIndex(failure=error)))


def test_a_failing_embedder_is_an_error() -> None:
    with pytest.raises(EmbedderFailed):
        outcome(ports(embedder=FakeEmbedder(failure=EmbedderFailed("It broke."))))


def test_an_index_of_another_embedder_is_a_clear_error() -> None:
    library = FakeLibrary([make_book(embedding_model="other-model")])
    with pytest.raises(WrongEmbedder, match=r"'robots'.*other-model") as caught:
        outcome(ports(library=library, index=UntouchableIndex()))
    assert "again" in caught.value.help_message
    assert not caught.value.retryable


def test_an_empty_library_is_a_clear_error() -> None:
    with pytest.raises(NoBooks) as caught:
        outcome(ports(library=FakeLibrary([])))
    assert "bythebook ingest" in caught.value.help_message


def test_an_unknown_book_is_an_error() -> None:
    with pytest.raises(UnknownBook):
        outcome(ports(), Question("What?", Scope("novels")))


# Retrieval


def test_a_question_goes_to_one_book_or_to_all() -> None:
    library, index = FakeLibrary([make_book("a"), make_book("b")]), FakeIndex([hit()])
    outcome(ports(library=library, index=index), Question(" What? ", Scope("b")))
    outcome(ports(library=library, index=index), Question("What?", top_k=50))
    assert index.searches == [("What?", ("b",), CANDIDATES), ("What?", ("a", "b"), 50)]


def test_no_more_passages_are_given_than_were_asked_for() -> None:
    hits = [hit(chunk=make_chunk(f"Sentence {n}.")) for n in range(9)]
    end = outcome(ports(hits), Question("What?", top_k=4))
    assert len(end.passages) == 4


def test_hits_are_ordered_by_meaning_and_words_together() -> None:
    meaning = hit(0.6, make_chunk("Meaning."))
    both = hit(0.5, make_chunk("Both."), words=0.5)
    neither = hit(0.4, make_chunk("Neither."))
    fused = fuse([neither, meaning, both], "all-MiniLM-L6-v2")
    assert [passage.chunk.text for passage in fused] == ["Both.", "Meaning.", "Neither."]
    assert [passage.cosine for passage in fused] == [0.5, 0.6, 0.4]
    assert fused[0].relevance > fused[1].relevance > fused[2].relevance


def test_equal_texts_of_a_book_are_folded_and_of_two_books_are_not() -> None:
    twins = [make_chunk("Same.", document_id="a"), make_chunk("Same.", document_id="b")]
    other = make_chunk("Same.", book_id="novels")
    fused = fuse([hit(0.5, twins[0]), hit(0.6, twins[1]), hit(0.4, other)], "all-MiniLM-L6-v2")
    assert [(p.chunk.book_id, p.chunk.document_id) for p in fused] == [
        ("robots", "b"),
        ("novels", "walking"),
    ]


def test_ties_are_broken_the_same_way_whatever_the_order_of_arrival() -> None:
    hits = [hit(chunk=make_chunk(f"Sentence {n}.")) for n in range(5)]
    assert fuse(hits, MODEL) == fuse(hits[::-1], MODEL)


def test_keeps_as_many_passages_as_were_asked_for_and_those_the_judge_finds_best() -> None:
    candidates = tuple(make_passage(f"Passage {number}.") for number in range(4))
    found = tuple(
        Evidence(passage, passage.chunk.units[0], share)
        for passage, share in zip(candidates, (0.1, 0.2, 0.6, 0.1), strict=True)
    )
    kept, judgement = narrow(candidates, Judgement(0.9, (0.1, 0.2, 0.6, 0.1), found), top_k=2)
    assert kept == (candidates[1], candidates[2])
    assert judgement == Judgement(0.9, (0.2, 0.6), found[1:3])


def test_keeps_passages_that_were_not_read_where_more_were_asked_for() -> None:
    candidates = tuple(make_passage(f"Passage {number}.") for number in range(4))
    kept, judgement = narrow(candidates, Judgement(0.9, (0.3, 0.7), ()), top_k=3)
    assert (kept, judgement.supports) == (candidates[:3], (0.3, 0.7))
