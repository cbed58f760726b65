import asyncio

from tests.unit.fakes import make_chunk, make_passage

from bythebook.ask.compose import (
    MOST_CHARACTERS,
    MOST_SENTENCES,
    MOST_STEPS,
    ExtractiveGenerator,
    choose,
)
from bythebook.domain.answers import Draft, Evidence, Judgement, Passage
from bythebook.domain.books import UnitKind
from bythebook.domain.questions import Plan

QUESTION = "What is a gait?"


def evidence(passage: Passage, at: int, support: float = 0.9) -> Evidence:
    return Evidence(passage, passage.chunk.units[at], support)


def chosen(ranked: list[Evidence], question: str = QUESTION) -> list[str]:
    return [one.quote for one in choose(question, ranked)]


def test_the_best_sentence_is_enough_when_no_other_comes_close() -> None:
    passage = make_passage("One.", "Two.", "Three.")
    ranked = [evidence(passage, 1), evidence(passage, 0, 0.5), evidence(passage, 2, 0.4)]
    assert chosen(ranked) == ["Two."]


def test_sentences_near_the_best_follow_in_reading_order() -> None:
    passage = make_passage("One.", "Two.", "Three.")
    ranked = [evidence(passage, 2), evidence(passage, 0, 0.85)]
    assert chosen(ranked) == ["One.", "Three."]


def test_an_answer_has_few_sentences() -> None:
    passage = make_passage(*(f"Sentence {n}." for n in range(6)))
    assert len(chosen([evidence(passage, n) for n in range(6)])) == MOST_SENTENCES


def test_further_sentences_end_at_the_word_limit() -> None:
    passage = make_passage("Best.", "word " * 70 + "end.", "Short.")
    assert chosen([evidence(passage, 0), evidence(passage, 1), evidence(passage, 2)]) == ["Best."]


def test_the_page_of_the_best_sentence_comes_first() -> None:
    near = Passage(make_chunk("Near.", document_id="zebra", char_start=900), 0.9)
    far = Passage(make_chunk("Far.", document_id="ant"), 0.9)
    assert chosen([evidence(near, 0), evidence(far, 0, 0.88)]) == ["Near.", "Far."]


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
    judgement = Judgement(0.9, (0.9,), (evidence(passage, 0), evidence(passage, 1)))
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
