import asyncio
from collections.abc import Sequence

from tests.unit.fakes import make_chunk, make_passage

from bythebook.ask.compose import (
    ENOUGH,
    MOST_CHARACTERS,
    MOST_SENTENCES,
    MOST_STEPS,
    MOST_WORDS,
    ExtractiveGenerator,
    choose,
)
from bythebook.ask.judge import Clearance, decide
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import selection_passage
from bythebook.ask.verify import verify
from bythebook.domain.answers import Draft, Evidence, Judgement, Passage, Sentence
from bythebook.domain.books import UnitKind
from bythebook.domain.questions import Plan, Question, Scope

QUESTION = "What is a gait?"


def evidence(passage: Passage, at: int, support: float = 0.9) -> Evidence:
    return Evidence(passage, passage.chunk.units[at], support)


def chosen(ranked: list[Evidence], question: str = QUESTION) -> list[str]:
    return [one.quote for one in choose(question, ranked)]


def test_the_best_sentence_is_enough_when_it_is_likely_the_answer() -> None:
    passage = make_passage("One.", "Two.", "Three.")
    ranked = [evidence(passage, 1, ENOUGH), evidence(passage, 0, 0.2), evidence(passage, 2, 0.1)]
    assert chosen(ranked) == ["Two."]


def test_further_sentences_are_added_until_one_of_them_likely_answers() -> None:
    passage = make_passage("One.", "Two.", "Three.")
    half = ENOUGH / 2
    ranked = [evidence(passage, 2, half), evidence(passage, 0, half), evidence(passage, 1, 0.2)]
    assert chosen(ranked) == ["One.", "Three."]


def test_an_answer_has_few_sentences() -> None:
    passage = make_passage(*(f"Sentence {n}." for n in range(6)))
    assert len(chosen([evidence(passage, n, 0.1) for n in range(6)])) == MOST_SENTENCES


def test_a_sentence_beyond_the_word_limit_is_passed_over_for_a_shorter_one() -> None:
    passage = make_passage("Best.", "word " * MOST_WORDS + "end.", "Short.")
    assert chosen([evidence(passage, n, 0.2) for n in range(3)]) == ["Best.", "Short."]


def test_the_page_of_the_best_sentence_comes_first() -> None:
    near = Passage(make_chunk("Near.", document_id="zebra", char_start=900), 0.9)
    far = Passage(make_chunk("Far.", document_id="ant"), 0.9)
    assert chosen([evidence(near, 0, 0.4), evidence(far, 0, 0.3)]) == ["Near.", "Far."]


def test_an_announcement_brings_what_it_announces() -> None:
    passage = make_passage("Do this:", ("item", "first"), ("item", "second"), "Afterwards rest.")
    assert chosen([evidence(passage, 0)]) == ["Do this:", "first", "second"]


def test_an_announced_formula_comes_along() -> None:
    passage = make_passage("The law is:", ("formula", "F = m a"), ("item", "an unrelated item"))
    assert chosen([evidence(passage, 0)]) == ["The law is:", "F = m a"]


def test_a_step_brings_its_list_only_when_steps_are_asked_for() -> None:
    passage = make_passage("Intro.", ("item", "first"), ("item", "second"), ("item", "third"))
    assert chosen([evidence(passage, 2)], "How do I walk?") == ["first", "second", "third"]
    assert chosen([evidence(passage, 2)], "Which one is it?") == ["second"]


def test_a_list_too_long_to_show_is_not_shown_in_part() -> None:
    items: list[tuple[UnitKind, str]] = [("item", f"step {n}") for n in range(MOST_STEPS + 1)]
    assert chosen([evidence(make_passage(*items), 3)], "What are the steps?") == ["step 3"]


def test_an_answer_stays_within_the_contracts_length() -> None:
    items: list[tuple[UnitKind, str]] = [("item", "x" * 400) for _ in range(8)]
    texts = chosen([evidence(make_passage("Do this:", *items), 0)])
    assert texts[0] == "Do this:"
    assert MOST_CHARACTERS - 401 < sum(len(text) + 1 for text in texts) <= MOST_CHARACTERS


def test_each_draft_quotes_itself() -> None:
    passage = make_passage("One.", "Two.")
    judgement = Judgement(0.9, (0.9,), (evidence(passage, 0, 0.4), evidence(passage, 1, 0.4)))
    plan = Plan("standard_rag", QUESTION, 5, None, None)

    async def run() -> list[Draft]:
        return [draft async for draft in ExtractiveGenerator().compose(plan, judgement)]

    assert asyncio.run(run()) == [
        Draft("One.", ((passage, "One."),)),
        Draft("Two.", ((passage, "Two."),)),
    ]


def test_code_too_long_for_an_answer_is_cut_at_a_line_end_and_still_shown() -> None:
    code = "\n".join(f"step_{number} = prepare(robot, {number})" for number in range(90))
    passage = make_passage(("code", code))
    (chosen,) = choose(QUESTION, [evidence(passage, 0)])
    assert len(chosen.quote) <= MOST_CHARACTERS
    assert code.startswith(chosen.quote + "\n")


def test_a_selection_asked_to_explain_itself_answers_with_how_it_begins() -> None:
    passage = selection_passage("Gaits repeat. A walk is a gait. A run is another.")
    plan = make_plan(Question("Explain this passage", Scope(selected_text=passage.chunk.text)))
    verdict = asyncio.run(decide(plan, (passage,), NeverAsked()))
    assert isinstance(verdict, Clearance)
    assert chosen(list(verdict.judgement.evidence)) == list(passage.chunk.unit_texts())


class NeverAsked:
    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        raise AssertionError("an overview needs no judging")


def test_what_was_cut_ends_visibly_and_still_stands_verification() -> None:
    code = "\n".join(f"step_{number} = prepare(robot, {number})" for number in range(90))
    passage = make_passage(("code", code))
    judgement = Judgement(0.9, (0.9,), (evidence(passage, 0),))
    plan = Plan("standard_rag", QUESTION, 5, None, None)

    async def run() -> list[Sentence]:
        return [one async for one in verify(ExtractiveGenerator().compose(plan, judgement))]

    (sentence,) = asyncio.run(run())
    assert sentence.text.endswith("\n…")
    assert code.startswith(sentence.text.removesuffix("\n…") + "\n")
