import asyncio
from collections.abc import Sequence

import pytest
from tests.unit.fakes import FakeSupport, make_chunk, make_passage

from bythebook.ask.compose.context import MOST_STEPS
from bythebook.ask.compose.extractive import (
    ENOUGH,
    MOST_SENTENCES,
    MOST_WORDS,
    WORTH,
    ExtractiveGenerator,
    choose,
)
from bythebook.ask.compose.trim import MOST_CHARACTERS
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.read.verdict import decide
from bythebook.ask.retrieve.passages import selection_passage
from bythebook.ask.verify.sentences import verify
from bythebook.domain.answers import (
    Draft,
    Evidence,
    Fault,
    Judgement,
    PartEvidence,
    Passage,
    Sentence,
)
from bythebook.domain.books import UnitKind
from bythebook.domain.questions import Plan, Question, Scope

QUESTION = "What is a gait?"


def evidence(passage: Passage, at: int, support: float = 0.9) -> Evidence:
    return Evidence(passage, passage.chunk.units[at], support)


def shown(plan: Plan, judgement: Judgement) -> list[Sentence]:
    """Compose and verify, with no support for what is not in the book's own words."""
    passages = list(dict.fromkeys(one.passage for one in judgement.evidence))

    async def run() -> list[Sentence | Fault]:
        drafts = ExtractiveGenerator().compose(plan, judgement)
        return [one async for one in verify(drafts, passages, FakeSupport(0.0))]

    told = asyncio.run(run())
    assert not [one for one in told if isinstance(one, Fault)]
    return [one for one in told if isinstance(one, Sentence)]


def texts(*ranked: Evidence, question: str = QUESTION, most: int | None = None) -> list[str]:
    plan = Plan("standard_rag", question, 5, None, None, most)
    return [one.text for one in shown(plan, Judgement(0.9, (0.9,), ranked))]


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
    assert chosen([evidence(passage, 2)], "Name the gaits.") == ["first", "second", "third"]
    assert chosen([evidence(passage, 2)], "Which one is it?") == ["second"]
    assert chosen([evidence(passage, 2)], "How do robots walk?") == ["second"]


def test_a_list_too_long_to_show_is_not_shown_in_part() -> None:
    items: list[tuple[UnitKind, str]] = [("item", f"step {n}") for n in range(MOST_STEPS + 1)]
    assert chosen([evidence(make_passage(*items), 3)], "What are the steps?") == ["step 3"]


def test_an_answer_stays_within_the_contracts_length() -> None:
    items: list[tuple[UnitKind, str]] = [("item", "x" * 400) for _ in range(8)]
    told = chosen([evidence(make_passage("Do this:", *items), 0)])
    assert told[0] == "Do this:"
    assert MOST_CHARACTERS - 401 < sum(len(text) + 1 for text in told) <= MOST_CHARACTERS


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
    assert verdict.answers
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
        drafts = ExtractiveGenerator().compose(plan, judgement)
        checked = verify(drafts, (passage,), FakeSupport(0.0))
        return [one async for one in checked if isinstance(one, Sentence)]

    (sentence,) = asyncio.run(run())
    assert sentence.text.endswith("\n…")
    assert code.startswith(sentence.text.removesuffix("\n…") + "\n")


# The fewest


def test_a_sentence_far_less_likely_than_the_best_is_left_out() -> None:
    passage = make_passage("One.", "Two.", "Three.")
    enough, too_little = 0.5 * WORTH + 0.01, 0.5 * WORTH - 0.01
    ranked = [
        evidence(passage, 0, 0.5),
        evidence(passage, 1, enough),
        evidence(passage, 2, too_little),
    ]
    assert chosen(ranked) == ["One.", "Two."]


def test_what_was_said_in_nearly_the_same_words_is_not_said_again() -> None:
    first = make_passage("A gait is a pattern of steps that repeats.")
    again = Passage(make_chunk("A gait is a pattern of steps that repeats!", document_id="b"), 0.9)
    other = Passage(make_chunk("A gait is how an animal walks or runs.", document_id="c"), 0.9)
    ranked = [evidence(first, 0, 0.3), evidence(again, 0, 0.3), evidence(other, 0, 0.2)]
    assert chosen(ranked) == [
        "A gait is a pattern of steps that repeats.",
        "A gait is how an animal walks or runs.",
    ]
    half = ENOUGH / 2
    sure = [evidence(first, 0, half), evidence(again, 0, half), evidence(other, 0, 0.1)]
    assert chosen(sure) == ["A gait is a pattern of steps that repeats."]


def test_a_further_sentence_that_needs_others_must_be_worth_them() -> None:
    passage = make_passage("Best is.", "A heron stands.", "It eats fish.")
    assert chosen([evidence(passage, 0, 0.4), evidence(passage, 2, 0.1)]) == ["Best is."]
    assert chosen([evidence(passage, 0, 0.4), evidence(passage, 2, 0.3)]) == [
        "Best is.",
        "A heron stands.",
        "It eats fish.",
    ]


def test_a_further_sentence_that_leads_nowhere_is_left_out() -> None:
    passage = make_passage("Best is.", "Two numbers show it:")
    assert chosen([evidence(passage, 0, 0.4), evidence(passage, 1, 0.4)]) == ["Best is."]


# What is left out shows


def test_an_item_that_is_no_sentence_comes_with_its_lead_and_the_gaps_show() -> None:
    passage = make_passage(
        "Four kinds come together:", ("item", "libraries"), ("item", "tools"), ("item", "packages")
    )
    assert texts(evidence(passage, 2)) == ["Four kinds come together: …", "tools\n…"]
    assert texts(evidence(passage, 3)) == ["Four kinds come together: …", "packages"]


def test_an_announcement_whose_list_is_elsewhere_ends_visibly() -> None:
    assert texts(evidence(make_passage("Its parts are these:"), 0)) == ["Its parts are these: …"]


def test_an_item_shown_alone_is_set_as_a_sentence() -> None:
    passage = make_passage("Intro.", ("item", "A walk is a gait with two feet."), "Outro.")
    plan = Plan("standard_rag", QUESTION, 5, None, None)
    (alone,) = shown(plan, Judgement(0.9, (0.9,), (evidence(passage, 1),)))
    assert (alone.text, alone.kind) == ("A walk is a gait with two feet.", "sentence")


def test_a_long_sentence_is_trimmed_to_the_clauses_around_the_answer() -> None:
    clauses = [f"clause {n} says nothing that anyone asked about" for n in range(9)]
    clauses[6] = "clause 6 says that it weighs 30 kg"
    sentence = "The robot, " + ", ".join(clauses) + "."
    passage = make_passage(sentence)
    at = sentence.index("30 kg")
    found = Evidence(passage, passage.chunk.units[0], 0.9, (at, at + 5))
    (text,) = texts(found)
    assert text.startswith("… clause ")
    assert text.endswith(", …")
    assert "weighs 30 kg" in text
    assert 30 <= len(text.split()) <= 47
    assert texts(evidence(passage, 0)) == [sentence]  # where the answer stands is not known


@pytest.mark.parametrize(
    ("piece", "opening"), [("$x_{a, b, c}$", "… it is"), ("(a, b, c)", "… word word")]
)
def test_a_formula_or_a_bracket_is_never_trimmed_within(piece: str, opening: str) -> None:
    sentence = f"In the case of {piece} {' '.join(['word'] * 40)}, it is 5 N."
    passage = make_passage(sentence)
    at = sentence.index("5 N")
    (text,) = texts(Evidence(passage, passage.chunk.units[0], 0.9, (at, at + 3)))
    assert text.startswith(opening)
    assert text.endswith("it is 5 N.")


# Questions of several parts


def parts(*found: Sequence[Evidence], most: int | None = None) -> list[str]:
    named = tuple(PartEvidence(f"Part {n}?", tuple(one)) for n, one in enumerate(found))
    all_found = tuple(one for part in named for one in part.evidence)
    plan = Plan("standard_rag", QUESTION, 5, None, None, most)
    return [one.text for one in shown(plan, Judgement(0.9, (0.9,), all_found, named))]


def test_each_part_is_answered_in_turn() -> None:
    passage = make_passage("Second.", "First.")
    assert parts([evidence(passage, 1)], [evidence(passage, 0)]) == ["First.", "Second."]


def test_what_answers_two_parts_is_said_once() -> None:
    passage = make_passage("Both.", "Other.")
    assert parts([evidence(passage, 0)], [evidence(passage, 0)]) == ["Both."]


def test_every_part_keeps_its_best_where_few_sentences_may_be_said() -> None:
    passage = make_passage("One a.", "One b.", "Two a.", "Two b.")
    first = [evidence(passage, 0, 0.6), evidence(passage, 1, 0.5)]
    second = [evidence(passage, 3, 0.3), evidence(passage, 2, 0.2)]
    assert parts(first, second, most=2) == ["One a.", "Two b."]
