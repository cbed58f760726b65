import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from bythebook.adapters import judge_features
from bythebook.adapters.minilm import MiniLm
from bythebook.adapters.sentence_judge import WEIGHTS, SentenceJudge
from bythebook.ask.retrieve import selection_passage
from bythebook.domain.answers import Judgement, Passage
from bythebook.domain.books import Chunk, Unit
from bythebook.domain.sentences import split_sentences

QUESTION = "How do nodes exchange messages?"
FITTING = "Nodes exchange messages over topics. A topic is a named channel. Any number of nodes may listen."
FOREIGN = "The heron waits at the river bank. It eats fish and frogs. It nests in tall trees."


def passage(text: str, *, relevance: float = 0.8, number: int = 0) -> Passage:
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
    return Passage(chunk, relevance, 0.5)


@pytest.fixture(scope="module")
def judge() -> SentenceJudge:
    return SentenceJudge(MiniLm(threads=2))


def judged(judge: SentenceJudge, question: str, *passages: Passage) -> Judgement:
    return asyncio.run(judge.judge(question, passages))


def test_a_fitting_passage_is_more_answerable_than_a_foreign_one(judge: SentenceJudge) -> None:
    fitting = judged(judge, QUESTION, passage(FITTING))
    foreign = judged(judge, QUESTION, passage(FOREIGN))
    assert fitting.answerable > foreign.answerable + 0.2


def test_a_fitting_selection_is_more_answerable_than_a_foreign_one(judge: SentenceJudge) -> None:
    fitting = judged(judge, QUESTION, selection_passage(FITTING))
    foreign = judged(judge, QUESTION, selection_passage(FOREIGN))
    assert fitting.answerable > 0.5 > foreign.answerable


def test_the_answering_sentence_comes_first(judge: SentenceJudge) -> None:
    evidence = judged(judge, QUESTION, passage(FITTING)).evidence
    assert evidence[0].quote == "Nodes exchange messages over topics."
    supports = [found.support for found in evidence]
    assert supports == sorted(supports, reverse=True)


def test_the_fitting_passage_has_more_support_wherever_it_stands(judge: SentenceJudge) -> None:
    fitting, foreign = passage(FITTING), passage(FOREIGN, number=1)
    for passages in ((fitting, foreign), (foreign, fitting)):
        verdict = judged(judge, QUESTION, *passages)
        supports = dict(zip((one.chunk.text for one in passages), verdict.supports, strict=True))
        assert supports[FITTING] > supports[FOREIGN]
        assert verdict.evidence[0].passage is fitting


def test_every_value_is_a_probability(judge: SentenceJudge) -> None:
    for question in (QUESTION, "", "?", "🤖" * 500, "word " * 100):
        verdict = judged(judge, question, passage(FITTING), passage(FOREIGN, number=1))
        values = [verdict.answerable, *verdict.supports, *(e.support for e in verdict.evidence)]
        assert all(0 <= value <= 1 for value in values)
        assert len(verdict.supports) == 2


def test_every_quote_is_a_unit_of_its_passage(judge: SentenceJudge) -> None:
    verdict = judged(judge, QUESTION, passage(FITTING), passage(FOREIGN, number=1))
    for found in verdict.evidence:
        assert found.unit in found.passage.chunk.units
        assert found.quote in found.passage.chunk.text


def test_a_passage_without_units_answers_nothing(judge: SentenceJudge) -> None:
    verdict = judged(judge, QUESTION, passage(""))
    assert verdict.answerable == 0
    assert list(verdict.supports) == [0]
    assert list(verdict.evidence) == []


def test_the_same_question_gets_the_same_judgement(judge: SentenceJudge) -> None:
    assert judged(judge, QUESTION, passage(FITTING)) == judged(judge, QUESTION, passage(FITTING))


def test_words_are_stemmed_alike_by_many_threads_at_once() -> None:
    words = [
        f"{stem}{ending}"
        for stem in ("walk", "jump", "talk", "plann")
        for ending in ("ing", "ed", "er", "s")
    ]
    invented = [f"{letter}{word}" for letter in "bcdfghklmnprstvw" for word in words] * 4
    judge_features._stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(judge_features._stem, invented, chunksize=7))
    judge_features._stem.cache_clear()
    assert together == [judge_features._stem(word) for word in invented]


def test_the_judge_is_named_by_its_weights() -> None:
    digest = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
    assert SentenceJudge.model_id == f"bythebook-linear@{digest[:8]}"


def test_a_fitted_relevance_does_not_change_what_the_judge_makes_of_a_passage(
    judge: SentenceJudge,
) -> None:
    found = replace(passage(FITTING), signal=0.5)
    fitted = replace(found, relevance=0.2)
    assert judged(judge, QUESTION, found).answerable == judged(judge, QUESTION, fitted).answerable


def test_a_claim_about_the_passage_is_better_supported_than_a_foreign_one(
    judge: SentenceJudge,
) -> None:
    claim = "Topics are what nodes use to send each other messages."
    near = asyncio.run(judge.support(claim, (passage(FOREIGN), passage(FITTING, number=1))))
    assert near > asyncio.run(judge.support(claim, (passage(FOREIGN),))) + 0.2
    assert asyncio.run(judge.support(claim, ())) == 0
