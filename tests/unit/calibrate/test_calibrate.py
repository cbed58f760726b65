"""A calibration from end to end, with parts that find what they are given."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from tests.unit.fakes import (
    MODEL,
    FakeCalibrations,
    FakeEmbedder,
    FakeIndex,
    FakeJudge,
    FakeLibrary,
    make_book,
    make_chunk,
    make_document,
)

from bythebook.ask.read.verdict import ANSWER_FROM
from bythebook.ask.retrieve.relevance import relevance_map
from bythebook.calibrate.pipeline import (
    CARRIED_BELOW,
    QUICK,
    CalibrateOrder,
    Fitted,
    calibrate,
    carry_over,
)
from bythebook.calibrate.product_search import CalibratePorts
from bythebook.calibrate.wording import content_words
from bythebook.domain.answers import Evidence, Hit, Judgement, Passage
from bythebook.domain.books import Chunk, Document
from bythebook.domain.calibrations import Calibration, RelevanceMap
from bythebook.errors import UnknownBook, WrongEmbedder
from bythebook.ports import Lookup

ORDER = CalibrateOrder("robots", effort=QUICK)


def page(number: int) -> Document:
    said = (
        f"The harbour crane of town{number} lifts {number + 11} barrels of herring from each boat."
    )
    why = f"Lamps of pier{number} are cleaned every morning because soot dims glass{number} badly."
    return make_document(
        ("heading", f"Crane of town{number}"),
        ("paragraph", said),
        ("heading", f"Lamps of pier{number}"),
        ("paragraph", why),
        document_id=f"page-{number}",
    )


def chunks_of(document: Document) -> list[Chunk]:
    return [
        make_chunk(
            document.text[block.start : block.end],
            document_id=document.document_id,
            char_start=block.start,
        )
        for block in document.blocks
        if block.kind == "paragraph"
    ]


@dataclass
class WordIndex(FakeIndex):
    """Finds by the share of the question's words that a chunk has."""

    chunks: Sequence[Chunk] = ()

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        asked = set(content_words(wanted.question))
        shares = [(len(asked & set(content_words(c.text))) / len(asked), c) for c in self.chunks]
        shares.sort(key=lambda pair: -pair[0])
        return [Hit(chunk, 0.2 + 0.4 * share, share) for share, chunk in shares[: wanted.limit]]


@dataclass
class WordJudge(FakeJudge):
    """Is as sure as the best passage has words of the question, up to a limit."""

    questions: list[str] = field(default_factory=list)

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        self.questions.append(question)
        asked = set(content_words(question))
        sure = [len(asked & set(content_words(p.chunk.text))) / len(asked) for p in passages]
        best = passages[sure.index(max(sure))]
        evidence = (Evidence(best, best.chunk.units[0], max(sure)),)
        return Judgement(min(0.95, max(sure)), tuple(sure), evidence)


def ports(count: int = 12, *, calibrations: FakeCalibrations | None = None) -> CalibratePorts:
    documents = {f"page-{n}": page(n) for n in range(count)}
    chunks = [chunk for document in documents.values() for chunk in chunks_of(document)]
    return CalibratePorts(
        library=FakeLibrary(texts=documents),
        embedder=FakeEmbedder(),
        index=WordIndex(chunks=chunks),
        judge=WordJudge(),
        judge_model="word-judge",
        calibrations=calibrations or FakeCalibrations(),
    )


def run_calibrate(parts: CalibratePorts, order: CalibrateOrder = ORDER) -> Fitted:
    found = asyncio.run(calibrate(order, parts, lambda _done, _total: None))
    assert found is not None
    return found


def test_a_fit_names_what_it_was_fitted_to_and_for() -> None:
    fit = run_calibrate(ports(), replace(ORDER, false_answers=0.1)).calibration
    assert (fit.generation, fit.embedding_model, fit.judge_model) == ("g1", MODEL, "word-judge")
    assert fit.false_answer_rate == 0.1
    assert 8 <= fit.own_questions <= QUICK.own
    assert fit.other_questions > QUICK.foreign / 2
    assert fit.changed == 0.0
    assert fit.curve[0].answered == 1.0


def test_own_questions_are_answered_and_foreign_ones_refused() -> None:
    found = run_calibrate(ports())
    assert found.before is not None
    assert found.after.own_answered > 0.9
    assert found.after.foreign_refused > 0.9
    assert found.after.withheld_refused >= found.before.withheld_refused


def test_the_same_book_gives_the_same_fit() -> None:
    assert run_calibrate(ports()) == run_calibrate(ports())


def test_nothing_is_kept_and_the_present_fit_is_what_it_is_compared_with() -> None:
    present = Calibration("g1", MODEL, "word-judge", 0.05, RelevanceMap(0.4, 18.0), 0.61, 9, 9)
    kept = FakeCalibrations(present)
    found = run_calibrate(ports(calibrations=kept))
    assert kept.fits == {"g1": present}
    assert (found.present.relevance, found.present.answer_from) == (present.relevance, 0.61)
    without = run_calibrate(ports())
    assert without.present.relevance == relevance_map(MODEL)
    assert without.present.answer_from == ANSWER_FROM
    assert found.calibration == without.calibration


def test_the_judge_reads_no_more_than_the_effort_allows() -> None:
    parts = ports(40)
    run_calibrate(parts, replace(ORDER, compare=False))
    assert isinstance(parts.judge, WordJudge)
    most = QUICK.own_judged + QUICK.withheld_judged + QUICK.foreign_judged
    assert QUICK.own_judged < len(parts.judge.questions) <= most


def test_a_judge_that_takes_anything_for_an_answer_is_kept_in_check() -> None:
    eager = replace(ports(), judge=FakeJudge(answerable=0.7))
    found = run_calibrate(eager)
    assert found.calibration.answer_from > ANSWER_FROM
    assert found.after.own_answered == 1.0  # as sure of these: refusing them all would mute it


def test_progress_comes_to_its_end() -> None:
    told: list[tuple[int, int]] = []
    asyncio.run(calibrate(ORDER, ports(), lambda done, total: told.append((done, total))))
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len({total for _, total in told}) == 1


def test_a_book_that_yields_few_questions_keeps_the_default() -> None:
    assert asyncio.run(calibrate(ORDER, ports(1), lambda _done, _total: None)) is None


def test_a_book_of_another_embedder_or_none_is_an_error() -> None:
    other = replace(ports(), embedder=FakeEmbedder(model_id="all-MiniLM-L6-v2-other"))
    with pytest.raises(WrongEmbedder, match="indexed by"):
        run_calibrate(other)
    with pytest.raises(UnknownBook):
        run_calibrate(ports(), replace(ORDER, book_id="nothing"))


FIT = Calibration("g1", MODEL, "judge", 0.05, RelevanceMap(0.4, 18.0), 0.5, 60, 60)
NEXT = replace(make_book(), generation="g2")


def test_a_fit_is_carried_over_where_few_chunks_changed() -> None:
    assert carry_over(FIT, NEXT, 0.04) == replace(FIT, generation="g2", changed=0.04)
    assert carry_over(FIT, NEXT, 0.0) == replace(FIT, generation="g2")


def test_a_fit_is_not_carried_over_to_another_book_in_disguise() -> None:
    assert carry_over(None, NEXT, 0.0) is None
    assert carry_over(FIT, NEXT, CARRIED_BELOW) is None
    assert carry_over(FIT, replace(NEXT, embedding_model="another"), 0.0) is None


def test_small_changes_add_up() -> None:
    once = carry_over(FIT, NEXT, 0.06)
    assert once is not None
    assert carry_over(once, replace(NEXT, generation="g3"), 0.06) is None
