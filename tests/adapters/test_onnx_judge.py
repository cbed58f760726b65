import asyncio
import hashlib
from collections.abc import Mapping, Sequence

import pytest

from bythebook.adapters.models.inference import Crew
from bythebook.adapters.models.judge_model import (
    MODELS,
    MOST_TOKENS,
    WEIGHTS,
    JudgeModel,
    load_weights,
)
from bythebook.adapters.models.minilm import MiniLm
from bythebook.ask.read.judge import ReadingJudge
from bythebook.ask.read.verdict import ANSWER_FROM
from bythebook.ask.retrieve.passages import selection_passage
from bythebook.domain.answers import Judgement, Passage
from bythebook.domain.books import Chunk, Unit
from bythebook.domain.text.sentences import split_sentences
from bythebook.evaluate.figures import auroc

QUESTION = "How do nodes exchange messages?"
FITTING = "Nodes exchange messages over topics. A topic is a named channel. Any number of nodes may listen."
FOREIGN = "The heron waits at the river bank. It eats fish and frogs. It nests in tall trees."


def passage(text: str, *, number: int = 0, signal: float = 0.6) -> Passage:
    units = tuple(Unit("sentence", start, end) for start, end in split_sentences(text))
    chunk = Chunk(
        book_id="tales",
        document_id=f"page-{number}",
        chunk_index=0,
        text=text,
        chapter="Tales",
        section="Tales",
        heading_path=("Tales",),
        anchor="",
        source_url="",
        char_start=0,
        char_end=len(text),
        token_count=20,
        units=units,
    )
    return Passage(chunk, relevance=0.8, cosine=0.5, signal=signal)


@pytest.fixture(scope="module")
def judge() -> ReadingJudge:
    return ReadingJudge(JudgeModel(Crew(2)), MiniLm(threads=2), load_weights())


def run_judge(judge: ReadingJudge, question: str, *passages: Passage) -> Judgement:
    return asyncio.run(judge.judge(question, passages))


def test_a_fitting_passage_is_more_answerable_than_a_foreign_one(judge: ReadingJudge) -> None:
    fitting = run_judge(judge, QUESTION, passage(FITTING))
    foreign = run_judge(judge, QUESTION, passage(FOREIGN, signal=0.1))  # as it would be found
    assert fitting.answerable > ANSWER_FROM > foreign.answerable


def test_a_fitting_selection_is_more_answerable_than_a_foreign_one(judge: ReadingJudge) -> None:
    fitting = run_judge(judge, QUESTION, selection_passage(FITTING))
    foreign = run_judge(judge, QUESTION, selection_passage(FOREIGN))
    assert fitting.answerable > 0.5 > foreign.answerable


def test_the_answering_sentence_comes_first(judge: ReadingJudge) -> None:
    evidence = run_judge(judge, QUESTION, passage(FITTING)).evidence
    assert evidence[0].quote == "Nodes exchange messages over topics."
    supports = [found.support for found in evidence]
    assert supports == sorted(supports, reverse=True)


def test_the_fitting_passage_has_more_support_wherever_it_stands(judge: ReadingJudge) -> None:
    fitting, foreign = passage(FITTING), passage(FOREIGN, number=1)
    for passages in ((fitting, foreign), (foreign, fitting)):
        verdict = run_judge(judge, QUESTION, *passages)
        supports = dict(zip((one.chunk.text for one in passages), verdict.supports, strict=True))
        assert supports[FITTING] > supports[FOREIGN]
        assert verdict.evidence[0].passage is fitting


def test_every_value_is_a_probability(judge: ReadingJudge) -> None:
    for question in (QUESTION, "", "?", "🤖" * 500, "word " * 100):
        verdict = run_judge(judge, question, passage(FITTING), passage(FOREIGN, number=1))
        values = [verdict.answerable, *verdict.supports, *(e.support for e in verdict.evidence)]
        assert all(0 <= value <= 1 for value in values)
        assert len(verdict.supports) == 2


def test_every_quote_is_a_unit_of_its_passage(judge: ReadingJudge) -> None:
    verdict = run_judge(judge, QUESTION, passage(FITTING), passage(FOREIGN, number=1))
    for found in verdict.evidence:
        assert found.unit in found.passage.chunk.units
        assert found.quote in found.passage.chunk.text


def test_a_passage_without_units_answers_nothing(judge: ReadingJudge) -> None:
    verdict = run_judge(judge, QUESTION, passage(""))
    assert verdict.answerable == 0
    assert list(verdict.supports) == [0]
    assert list(verdict.evidence) == []


def test_the_same_question_gets_the_same_judgement(judge: ReadingJudge) -> None:
    assert run_judge(judge, QUESTION, passage(FITTING)) == run_judge(
        judge, QUESTION, passage(FITTING)
    )


def test_the_model_is_named_by_what_it_is_made_of() -> None:
    model = (MODELS / "judge" / "model.onnx").read_bytes()
    digest = hashlib.sha256(model + WEIGHTS.read_bytes()).hexdigest()
    assert JudgeModel.model_id == f"bythebook-judge-int8@{digest[:8]}"
    assert len(model) <= 40_000_000


def test_claims_in_other_words_are_better_supported_than_changed_ones(judge: ReadingJudge) -> None:
    borne_out = {
        FITTING: (
            "Topics are what nodes use to send each other messages.",
            "A topic is a channel that has a name.",
            "There is no limit to how many nodes can listen.",
        ),
        FOREIGN: (
            "Herons feed on fish and frogs.",
            "Its nest is high up in trees.",
            "It waits by the river for its prey.",
        ),
    }
    changed = {
        FITTING: (
            "At most three nodes may listen to one topic.",
            "Only one node may listen to a topic.",
            "Nodes exchange messages over shared memory.",
            "A topic is a numbered queue.",
            "Topics are encrypted by default.",
        ),
        FOREIGN: (
            "Herons feed on insects.",
            "Its nest is on the ground.",
            "Herons live for twenty years.",
        ),
    }
    other = {FITTING: FOREIGN, FOREIGN: FITTING}

    def supports(claims: Mapping[str, Sequence[str]], *, of_other: bool = False) -> list[float]:
        return [
            asyncio.run(judge.support(claim, (passage(other[text] if of_other else text),)))
            for text, several in claims.items()
            for claim in several
        ]

    assert auroc(supports(borne_out), supports(changed)) >= 0.85
    assert min(supports(borne_out)) > 0.5 > max(supports(borne_out, of_other=True))


def test_the_best_passage_decides_whether_a_claim_is_supported(judge: ReadingJudge) -> None:
    claim = "Topics are what nodes use to send each other messages."
    alone = asyncio.run(judge.support(claim, (passage(FITTING),)))
    both = asyncio.run(judge.support(claim, (passage(FOREIGN), passage(FITTING, number=1))))
    assert both == pytest.approx(alone)
    assert asyncio.run(judge.support(claim, ())) < 0.01


def test_a_claim_that_names_what_no_passage_has_is_less_supported(judge: ReadingJudge) -> None:
    claim = "Topics are what nodes use to send each other messages."
    with_name = "Topics are what nodes use to send each other Zyxorbit messages."
    with_number = "Topics are what 7,341 nodes use to send each other messages."
    whole = asyncio.run(judge.support(claim, (passage(FITTING),)))
    for changed in (with_name, with_number):
        assert asyncio.run(judge.support(changed, (passage(FITTING),))) < whole


def test_a_passage_longer_than_a_window_is_read_to_its_end() -> None:
    model = JudgeModel(Crew(2))
    filler = "The heron waits at the river bank and eats small fish. " * 40
    long = passage(filler + "Nodes exchange messages over topics.")
    assert len(list(model._parts(QUESTION, long))) > 1
    assert all(len(part.ids) <= MOST_TOKENS for part in model._parts(QUESTION, long))
    reading = model.read(QUESTION, (long,))[0]
    assert len(reading.units) == len(long.chunk.units)
    assert max(range(len(reading.units)), key=reading.units.__getitem__) == len(reading.units) - 1


def test_the_answers_words_stand_in_the_passage() -> None:
    reading = JudgeModel(Crew(1)).read("What are messages exchanged over?", (passage(FITTING),))[0]
    assert reading.words is not None
    assert "topics" in FITTING[slice(*reading.words)]


def test_one_endless_sentence_and_an_endless_question_are_read(judge: ReadingJudge) -> None:
    endless = "and so on " * 2000
    for question, text in ((QUESTION, endless), (endless, FITTING), (endless, endless)):
        assert 0 <= run_judge(judge, question, passage(text)).answerable <= 1
