"""Questions made from a book, and what is kept from the judge."""

from collections import Counter

import pytest
from tests.unit.fakes import make_chunk, make_document

from bythebook.calibrate.foreign import ForeignQuestion, draw_foreign, far_from
from bythebook.calibrate.product_search import FoundHits
from bythebook.calibrate.questions import OwnQuestion, draw_questions
from bythebook.calibrate.withhold import is_answered_elsewhere, signals_of, without_answer
from bythebook.calibrate.wording import (
    heading_questions,
    heading_topic,
    is_prose,
    sentence_question,
)
from bythebook.domain.answers import Evidence, Hit, Judgement, Passage
from bythebook.domain.books import Document

PROSE = "Granite is a hard rock that forms slowly when molten stone cools deep below the ground."
COUNT = "The harbour crane lifts seven barrels of herring from each boat at low tide."
CAUSE = "Lighthouse lamps are cleaned every morning because soot dims the glass within a day."
PLAIN = "Fishermen mend torn nets on the pebble beach while gulls watch them closely."


@pytest.mark.parametrize(
    ("sentence", "rule", "question", "answer"),
    [
        (PROSE, "definition", "What is granite?", "hard"),
        (CAUSE, "cause", "Why are lighthouse lamps cleaned every morning?", "soot"),
        (COUNT, "number", "How many barrels", "seven"),
        ("The chapel on the northern hill burned down in 1871 after a storm.", "number",
         "In which year", "1871"),
        (PLAIN, "terms", "gulls", "fishermen"),
    ],
)  # fmt: skip
def test_a_sentence_is_asked_for_by_the_first_rule_that_fits(
    sentence: str, rule: str, question: str, answer: str
) -> None:
    made = sentence_question(sentence, lambda word: float(len(word)))
    assert made is not None
    assert made[0] == rule
    assert question in made[1]
    assert answer in made[2]


def test_the_answer_itself_is_not_in_the_question() -> None:
    made = sentence_question(COUNT, lambda word: float(len(word)))
    assert made is not None
    assert "seven" not in made[1]


@pytest.mark.parametrize(
    "sentence",
    [
        "It is a hard rock that forms slowly below the ground.",
        "There is a harbour crane that lifts barrels of herring.",
    ],
)
def test_a_sentence_about_something_said_before_is_not_asked_for_by_its_subject(
    sentence: str,
) -> None:
    made = sentence_question(sentence, lambda word: float(len(word)))
    assert made is not None
    assert made[0] == "terms"


@pytest.mark.parametrize(
    "title",
    [
        "Introduction",
        "3.2 Summary",
        "References",
        "Chapter 4",
        "Table of contents",
        "7",
        "Exercise 3",
    ],
)
def test_a_heading_of_any_book_is_not_asked_for(title: str) -> None:
    assert heading_topic(title) is None


def test_a_heading_is_asked_for_in_several_ways() -> None:
    assert heading_topic("2.1 Tidal harbours") == "Tidal harbours"
    assert heading_questions("Tidal harbours") == (
        "What are tidal harbours?",
        "How do tidal harbours work?",
        "tidal harbours",
    )
    assert heading_questions("How to mend a net")[0] == "How do I mend a net?"
    assert heading_questions("Who owns the crane?") == ("Who owns the crane?",)


@pytest.mark.parametrize(
    "unit",
    ["See https://example.org/a/long/list of things to read.", "x = f(1); y = g(2); z = h(3)",
     "Too short to ask.", "This chapter tells how nets are mended by hand on the beach.",
     "No sentence ends here, it only goes on and on without"],
)  # fmt: skip
def test_what_is_no_sentence_in_words_is_skipped(unit: str) -> None:
    assert not is_prose(unit)
    assert is_prose(PLAIN)


def pages(count: int = 6) -> list[Document]:
    return [
        make_document(
            ("heading", f"Harbour number{n} crane"),
            ("paragraph", COUNT.replace("harbour", f"harbour{n}")),
            ("code", f"print('Harbour {n} is a string of code that nobody asks about at all.')"),
            ("paragraph", CAUSE.replace("Lighthouse", f"Lighthouse{n}")),
            ("table", "Granite is a hard rock in a table row which has no sentence to ask for."),
            ("paragraph", PLAIN.replace("gulls", f"gulls{n}")),
            document_id=f"page-{n}",
        )
        for n in range(count)
    ]


def test_questions_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    first = draw_questions(pages(), 12, seed=1)
    assert first == draw_questions(list(reversed(pages())), 12, seed=1)
    assert first != draw_questions(pages(), 12, seed=2)
    assert len(first) == 12


def test_questions_are_spread_over_documents_and_rules() -> None:
    drawn = draw_questions(pages(), 12, seed=1)
    asked_of = Counter(question.document_id for question in drawn)
    assert len(asked_of) == 6
    assert max(asked_of.values()) <= 3
    assert {question.rule for question in drawn} >= {"heading", "number", "cause", "terms"}


def test_a_question_knows_the_place_that_answers_and_none_is_made_of_code_or_tables() -> None:
    texts = {page.document_id: page.text for page in pages()}
    drawn = draw_questions(pages(), 1000, seed=1)
    for question in drawn:
        place = texts[question.document_id][question.start : question.end]
        assert question.source in place
        assert "string of code" not in question.source
        assert "table row" not in question.source
    assert len({question.text for question in drawn}) == len(drawn)


def test_a_heading_is_answered_by_all_that_stands_below_it() -> None:
    page = make_document(("heading", "Walking"), ("paragraph", PLAIN))
    (question,) = [one for one in draw_questions([page], 9, seed=1) if one.rule == "heading"]
    assert (question.start, question.end) == (0, len(page.text))


ASKED = OwnQuestion("How many barrels?", "number", "walking", 0, len(COUNT), COUNT, ("seven",))


def hit(text: str, start: int, cosine: float = 0.5, document_id: str = "other") -> Hit:
    return Hit(make_chunk(text, document_id=document_id, char_start=start), cosine, 0.5)


def test_what_answers_is_withheld_where_it_stands_and_where_it_is_said_again() -> None:
    there = hit(COUNT, 0, document_id="walking")
    again = hit(f"As told before. {COUNT}", 900)
    nearly = hit(COUNT.replace("seven", "some").replace("each boat", "a boat"), 1900)
    other = hit(PLAIN, 2900)
    assert without_answer(ASKED, [there, again, nearly, other]) == [other]
    assert without_answer(ASKED, [again, other]) == [other]


def test_a_near_duplicate_of_what_answers_is_withheld_without_the_sentence_itself() -> None:
    there = hit(f"{COUNT} {CAUSE} {PLAIN}", 0, document_id="walking")
    alike = hit(f"{CAUSE} {PLAIN}", 900)
    assert without_answer(ASKED, [there, alike]) == []
    assert without_answer(ASKED, [alike]) == [alike]


def test_a_passage_of_another_page_at_the_same_place_is_not_withheld() -> None:
    other = hit(PLAIN, 0)
    assert without_answer(ASKED, [other]) == [other]


def test_a_question_counts_as_asked_and_as_it_would_be_in_other_words() -> None:
    found = FoundHits("How many?", (hit(COUNT, 0, 0.8, "walking"), hit(PLAIN, 50, 0.4)))
    strong, weak = signals_of(ASKED, found)
    assert strong == pytest.approx(0.8 + 0.7 * 0.5**1.5)
    assert weak == 0.4
    alone = FoundHits("How many?", found.hits[:1])
    assert signals_of(ASKED, alone) == [strong]


@pytest.mark.parametrize(
    ("quote", "elsewhere"),
    [("The crane takes seven, as we know.", True), ("The crane takes eleven.", False)],
)
def test_a_number_found_elsewhere_is_no_false_answer(quote: str, elsewhere: bool) -> None:
    chunk = make_chunk(quote)
    evidence = Evidence(Passage(chunk, 0.9), chunk.units[0], 0.9)
    assert is_answered_elsewhere(ASKED, Judgement(0.9, (0.9,), (evidence,))) is elsewhere


def test_the_shipped_questions_are_many_distinct_and_of_many_topics() -> None:
    all_of_them = draw_foreign(10_000, seed=1)
    assert len(all_of_them) >= 190
    assert len({question.text for question in all_of_them}) == len(all_of_them)
    assert len({question.topic for question in all_of_them}) >= 20
    some = draw_foreign(44, seed=1)
    assert set(Counter(question.topic for question in some).values()) == {2}
    assert some != draw_foreign(44, seed=2)


def make_hits(topic: str, *signals: float) -> list[tuple[ForeignQuestion, FoundHits]]:
    return [
        (
            ForeignQuestion(f"{topic} {signal}?", topic),
            FoundHits(str(signal), (Hit(make_chunk("x"), signal, 0.0),)),
        )
        for signal in signals
    ]


def test_a_topic_that_the_book_is_about_is_left_out_as_a_whole() -> None:
    far = [
        *make_hits("law", 0.1, 0.2, 0.2),
        *make_hits("film", 0.1, 0.2, 0.3),
        *make_hits("sport", 0.2, 0.1),
    ]
    near = make_hits("cooking", 0.3, 0.7, 0.8)
    stray = make_hits("film", 0.95)
    kept = far_from([0.8, 0.9, 1.0], [*far, *near, *stray])
    assert kept == [found for _, found in far]
