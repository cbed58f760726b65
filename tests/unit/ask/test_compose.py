import asyncio
from collections.abc import Sequence
from dataclasses import replace

from tests.unit.fakes import FakeSupport, make_chunk

from bythebook.ask.compose.extractive import ROOM, ExtractiveGenerator, cut_excerpts
from bythebook.ask.compose.keys import KEY_WORTH, MOST_KEYS, SECOND_WORTH
from bythebook.ask.compose.trim import MOST_CHARACTERS, MOST_QUOTE
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.read.verdict import decide
from bythebook.ask.retrieve.passages import selection_passage
from bythebook.ask.show.answer_text import answer_text
from bythebook.ask.verify.sentences import verify
from bythebook.domain.answers import (
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


def make_page(*blocks: Sequence[str] | tuple[UnitKind, str], document_id: str = "page") -> Passage:
    """Make a passage of paragraphs, each a list of sentences, and of other units."""
    parts: list[str | tuple[UnitKind, str]] = []
    for block in blocks:
        parts += [block] if isinstance(block, tuple) else block
    chunk = make_chunk(*parts, document_id=document_id)
    text = list(chunk.text)
    at = 0
    for block in blocks:  # sentences of a paragraph are on one line
        if not isinstance(block, tuple):
            for unit in chunk.units[at + 1 : at + len(block)]:
                text[unit.start - 1] = " "
        at += 1 if isinstance(block, tuple) else len(block)
    return Passage(replace(chunk, text="".join(text)), 0.9)


def evidence(passage: Passage, at: int, support: float = 0.9) -> Evidence:
    return Evidence(passage, passage.chunk.units[at], support)


def make_words(number: int, name: str = "word") -> str:
    return f"{' '.join([name] * (number - 1))} end."


def show(
    *ranked: Evidence, question: str = QUESTION, most: int | None = None, parts: int = 0
) -> list[Sentence]:
    """Compose and verify, with no support for what is not in the book's own words."""
    named = tuple(PartEvidence(f"Part {n}?", (one,)) for n, one in enumerate(ranked[:parts]))
    plan = Plan("standard_rag", question, 5, None, None, most)
    return compose(plan, Judgement(0.9, (0.9,), ranked, named))


def compose(plan: Plan, judgement: Judgement) -> list[Sentence]:
    passages = list(dict.fromkeys(one.passage for one in judgement.evidence))

    async def run() -> list[Sentence | Fault]:
        drafts = ExtractiveGenerator().compose(plan, judgement)
        return [one async for one in verify(drafts, passages, FakeSupport(0.0))]

    verified = asyncio.run(run())
    assert not [one for one in verified if isinstance(one, Fault)]
    return [one for one in verified if isinstance(one, Sentence)]


def texts(sentences: Sequence[Sentence]) -> list[str]:
    return [one.text for one in sentences]


def keys(sentences: Sequence[Sentence]) -> list[str]:
    return [one.text for one in sentences if one.key]


# What is shown around a key sentence


def test_a_key_sentence_is_shown_in_its_paragraph_and_marked() -> None:
    sentences = show(evidence(make_page(["One.", "Two.", "Three."]), 1))
    assert texts(sentences) == ["One.", "Two.", "Three."]
    assert keys(sentences) == ["Two."]
    assert answer_text(sentences) == "One. Two. Three."


def test_each_sentence_quotes_itself() -> None:
    passage = make_page(["One.", "Two."])
    for sentence in show(evidence(passage, 0)):
        (citation,) = sentence.citations
        assert (citation.quote, citation.stands) == (sentence.text, True)


def test_paragraphs_stay_apart_as_in_the_book() -> None:
    passage = make_page(["One.", "Two."], ["Three."])
    assert answer_text(show(evidence(passage, 0))) == "One. Two.\n\nThree."


def test_a_paragraph_too_long_is_cut_at_sentences_and_the_cuts_show() -> None:
    half = make_words(round(ROOM) // 2)
    passage = make_page([half, "Before.", "Key.", "After.", half.replace("word", "more"), half])
    assert texts(show(evidence(passage, 2))) == [
        "… Before.",
        "Key.",
        "After.",
        half.replace("word", "more") + " …",
    ]


def test_the_key_sentence_is_shown_however_long_it_is() -> None:
    long = make_words(round(ROOM) + 60)
    assert texts(show(evidence(make_page(["One.", long, "Two."]), 1))) == [f"… {long} …"]


def test_a_sentence_that_points_back_brings_what_it_points_to() -> None:
    long = make_words(round(ROOM))
    passage = make_page(["A heron stands.", "It eats fish.", long])
    assert texts(show(evidence(passage, 1))) == ["A heron stands.", "It eats fish. …"]


def test_a_list_is_shown_whole_with_the_line_that_announces_it() -> None:
    passage = make_page(
        ["Much more.", "Do this:"], ("item", "first"), ("item", "second"), ["Afterwards rest."]
    )
    for at in (1, 2, 3):
        shown = show(evidence(passage, at))
        assert texts(shown) == ["Much more.", "Do this:", "first", "second", "Afterwards rest."]


def test_all_items_answer_where_a_list_is_asked_for() -> None:
    passage = make_page(["There are two:"], ("item", "a walk"), ("item", "a run"), ["So much."])
    assert keys(show(evidence(passage, 1), question="What are the gaits?")) == ["a walk", "a run"]
    assert keys(show(evidence(passage, 1), question="Which is slow?")) == ["a walk"]


def test_a_long_list_is_cut_around_the_item_that_answers() -> None:
    items: list[tuple[UnitKind, str]] = [("item", f"{make_words(40)} {n}") for n in range(12)]
    sentences = show(evidence(make_page(["All of them:"], *items), 6))
    shown = texts(sentences)
    assert items[6][1] in shown
    assert 2 < len(shown) < 12
    assert shown[-1].endswith("\n…")


def test_code_comes_with_the_sentence_that_introduces_it_and_the_other_way_round() -> None:
    passage = make_page([make_words(100), "Call it so:"], ("code", "walk(robot)"))
    assert texts(show(evidence(passage, 2)))[-2:] == ["Call it so:", "walk(robot)"]
    assert texts(show(evidence(passage, 1)))[-2:] == ["Call it so:", "walk(robot)"]


def test_a_row_comes_with_its_header_and_not_with_other_rows() -> None:
    rows: list[tuple[UnitKind, str]] = [("row", f"{make_words(40)} | {n}") for n in range(5)]
    passage = make_page(("row", "gait | speed"), *rows)
    assert texts(show(evidence(passage, 3))) == ["gait | speed", rows[2][1]]


def test_an_announcement_whose_list_is_elsewhere_ends_visibly() -> None:
    assert texts(show(evidence(make_page(["Its parts are these:"]), 0))) == [
        "Its parts are these: …"
    ]


def test_an_item_shown_alone_is_set_as_a_sentence() -> None:
    long = make_words(round(ROOM))
    item = "A walk is a gait with two feet."
    passage = make_page([long], ("item", item), [long])
    (alone,) = show(evidence(passage, 1))
    assert (alone.text, alone.kind) == (item, "sentence")


# Which sentences are key, and how many excerpts there are


def test_units_nearly_as_likely_as_the_best_are_key_too() -> None:
    passage = make_page(["One.", "Two.", "Three.", "Four.", "Five."])
    near, far = 0.5 * KEY_WORTH + 0.01, 0.5 * KEY_WORTH - 0.01
    ranked = [evidence(passage, 0, 0.5), evidence(passage, 1, near), evidence(passage, 2, far)]
    assert keys(show(*ranked)) == ["One.", "Two."]
    assert len(keys(show(*(evidence(passage, n, 0.2) for n in range(5))))) == MOST_KEYS


def test_a_second_passage_is_shown_unless_it_is_far_less_likely() -> None:
    first, second = make_page(["Near."]), make_page(["Far."], document_id="other")
    third = make_page(["Third."], document_id="third")
    sure = evidence(first, 0, 0.9)
    near, far = 0.9 * SECOND_WORTH + 0.001, 0.9 * SECOND_WORTH - 0.001
    assert texts(show(sure, evidence(second, 0, near), evidence(third, 0, near))) == [
        "Near.",
        "Far.",
    ]
    assert texts(show(sure, evidence(second, 0, far))) == ["Near."]
    shown = show(sure, evidence(second, 0, near))
    assert answer_text(shown) == "Near.\n\nFar."


def test_what_was_said_in_nearly_the_same_words_is_not_said_again() -> None:
    first = make_page(["A gait is a pattern of steps that repeats."])
    again = make_page(["A gait is a pattern of steps that repeats!"], document_id="b")
    other = make_page(["A gait is how an animal walks or runs."], document_id="c")
    ranked = [evidence(first, 0, 0.3), evidence(again, 0, 0.3), evidence(other, 0, 0.2)]
    assert texts(show(*ranked)) == [
        "A gait is a pattern of steps that repeats.",
        "A gait is how an animal walks or runs.",
    ]


def test_a_further_sentence_that_only_announces_is_no_key() -> None:
    passage = make_page(["Best is."], ["Two numbers show it:"])
    ranked = [evidence(passage, 0, 0.4), evidence(passage, 1, 0.4)]
    assert keys(show(*ranked)) == ["Best is."]


# Limits


def test_an_answer_has_room_for_two_excerpts_and_no_more() -> None:
    sentences = [make_words(20, f"w{n}") for n in range(12)]
    pages = [make_page(sentences, document_id=name) for name in ("a", "b", "c")]
    ranked = [evidence(page, 6, 0.3) for page in pages]
    plan = Plan("standard_rag", QUESTION, 5, None, None)
    excerpts = cut_excerpts(plan, Judgement(0.9, (0.9,), tuple(ranked)))
    assert ROOM - 40 <= sum(excerpt.length for excerpt in excerpts) <= ROOM


def test_an_answer_stays_within_the_contracts_length() -> None:
    items: list[tuple[UnitKind, str]] = [("item", f"{n} " + "x" * 398) for n in range(8)]
    shown = texts(show(evidence(make_page(["Do this:"], *items), 0)))
    assert shown[0].startswith("Do this:")
    assert MOST_CHARACTERS - 403 < sum(len(text) for text in shown) <= MOST_CHARACTERS


def test_code_too_long_for_an_answer_is_cut_at_a_line_end_and_the_cut_shows() -> None:
    code = "\n".join(f"step_{number} = prepare(robot, {number})" for number in range(90))
    (sentence,) = show(evidence(make_page(("code", code)), 0))
    assert sentence.text.endswith("\n…")
    kept = sentence.text.removesuffix("\n…")
    assert len(kept) <= MOST_CHARACTERS
    assert code.startswith(kept + "\n")
    assert all(len(citation.quote) <= MOST_QUOTE for citation in sentence.citations)


def test_a_selection_asked_to_explain_itself_answers_with_how_it_begins() -> None:
    passage = selection_passage("Gaits repeat. A walk is a gait. A run is another.")
    plan = make_plan(Question("Explain this passage", Scope(selected_text=passage.chunk.text)))
    verdict = asyncio.run(decide(plan, (passage,), NeverAsked()))
    assert verdict.answers
    assert texts(show(*verdict.judgement.evidence)) == list(passage.chunk.unit_texts())


class NeverAsked:
    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        raise AssertionError("an overview needs no judging")


# Few sentences


def test_an_answer_of_few_sentences_consists_of_the_key_ones() -> None:
    passage = make_page(["One.", "Two.", "Three.", "Four."])
    ranked = [evidence(passage, 2, 0.4), evidence(passage, 0, 0.3), evidence(passage, 1, 0.01)]
    assert texts(show(*ranked, most=3)) == ["One.", "Three."]
    assert texts(show(*ranked, most=1)) == ["Three."]


def test_bare_items_are_no_sentences_where_few_are_allowed() -> None:
    passage = make_page(["There are:"], ("item", "a walk"), ("item", "a run"), ("item", "a trot"))
    shown = show(evidence(passage, 1), question="What are the gaits?", most=1)
    assert texts(shown) == ["a walk", "a run", "a trot"]


# Questions of several parts


def test_each_part_is_answered_in_turn() -> None:
    first, second = make_page(["First."]), make_page(["Second."], document_id="other")
    assert texts(show(evidence(first, 0), evidence(second, 0), parts=2)) == ["First.", "Second."]


def test_what_answers_two_parts_is_said_once_and_key_for_both() -> None:
    passage = make_page(["Both.", "Other.", "Third."])
    sentences = show(evidence(passage, 0), evidence(passage, 2), parts=2)
    assert texts(sentences) == ["Both.", "Other.", "Third."]
    assert keys(sentences) == ["Both.", "Third."]


def test_every_part_keeps_its_best_where_few_sentences_may_be_said() -> None:
    first, second = make_page(["One a.", "One b."]), make_page(["Two a."], document_id="other")
    ranked = [evidence(first, 0, 0.6), evidence(second, 0, 0.3)]
    assert keys(show(*ranked, most=2, parts=2)) == ["One a.", "Two a."]
