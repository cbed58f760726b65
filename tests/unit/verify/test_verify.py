import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.fakes import FakeSupport, make_chunk, make_passage

from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.show.answer_text import answer_text
from bythebook.ask.verify.sentences import SUPPORTED_FROM, locate, number_citations, verify
from bythebook.domain.answers import Draft, Evidence, Fault, FaultKind, Judgement, Passage, Sentence
from bythebook.domain.books import UnitKind
from bythebook.domain.questions import Plan

FIRST = "A humanoid weighs about 15 kg and costs 3.5 million."
SECOND = "It isn’t safe – never touch “hot” motors."
PASSAGE = Passage(make_chunk(FIRST, SECOND, char_start=100), 0.9)
OTHER = make_passage("Wheels are simpler than legs.")


TWIN = Passage(replace(PASSAGE.chunk, document_id="twin"), 0.9)
GIVEN = (PASSAGE, OTHER, TWIN)


def run_verify(
    *drafts: Draft, support: float = 0.0, given: Sequence[Passage] = GIVEN
) -> list[Sentence | Fault]:
    async def run() -> list[Sentence | Fault]:
        return [one async for one in verify(_give_drafts(drafts), given, FakeSupport(support))]

    return asyncio.run(run())


def verify_sentences(*drafts: Draft, **more: Any) -> list[Sentence]:
    return [one for one in run_verify(*drafts, **more) if isinstance(one, Sentence)]


async def _give_drafts(drafts: tuple[Draft, ...]) -> AsyncIterator[Draft]:
    for draft in drafts:
        yield draft


def passes(text: str, *quotes: str, passage: Passage = PASSAGE) -> bool:
    draft = Draft(text, tuple((passage, quote) for quote in quotes or (text,)))
    return bool(verify_sentences(draft, given=(passage,)))


def test_an_exact_quote_is_shown_with_its_place_in_the_document() -> None:
    (sentence,) = verify_sentences(Draft(SECOND, ((PASSAGE, SECOND),)))
    (citation,) = sentence.citations
    assert (citation.quote, citation.char_start) == (SECOND, 100 + len(FIRST) + 1)
    assert citation.char_end == citation.char_start + len(SECOND)


@pytest.mark.parametrize(
    "typed",
    [
        'It isn\'t safe - never touch "hot" motors.',
        "It isn’t safe —  never\ntouch “hot” motors.",
        "  It isn’t safe –\u00a0never touch “hot” mo\u00adtors.  ",
    ],
)
def test_a_quote_that_differs_in_typography_is_cited_as_the_book_has_it(typed: str) -> None:
    citation = locate(PASSAGE, typed)
    assert citation is not None
    assert citation.quote == SECOND
    assert PASSAGE.chunk.text[citation.char_start - 100 : citation.char_end - 100] == SECOND


def test_a_ligature_is_found_by_its_letters() -> None:
    citation = locate(make_passage("The ﬁrst ofﬁce robot."), "first office")
    assert citation is not None
    assert citation.quote == "ﬁrst ofﬁce"


@pytest.mark.parametrize(
    "quote",
    ["A humanoid weighs about 16 kg", "A humanoid weighs 15 kg", "Wheels are simpler.", "", " \n"],
)
def test_what_the_passage_does_not_say_is_found_nowhere(quote: str) -> None:
    assert locate(PASSAGE, quote) is None


def test_an_altered_sentence_is_dropped_though_its_quote_is_true() -> None:
    assert not passes(FIRST.replace("weighs about", "weighs only"), FIRST)


def test_a_changed_number_is_dropped_though_its_quote_is_true() -> None:
    assert not passes(FIRST.replace("15", "16"), FIRST)


def test_a_fabricated_sentence_is_dropped() -> None:
    assert not passes("Robots dream of sheep.")
    assert not passes("Robots dream of sheep.", FIRST)


def test_a_sentence_without_quotes_is_dropped() -> None:
    assert verify_sentences(Draft(FIRST, ())) == []


def test_an_empty_sentence_is_dropped() -> None:
    assert not passes("", FIRST)
    assert not passes(" … ", FIRST)


def test_a_true_quote_of_another_passage_is_cited_where_it_stands() -> None:
    fault, sentence = run_verify(Draft(FIRST, ((OTHER, FIRST),)))
    assert fault == Fault("misattributed", dropped=False)
    assert isinstance(sentence, Sentence)
    assert [citation.passage for citation in sentence.citations] == [PASSAGE]


def test_a_true_quote_of_a_passage_that_was_not_given_is_dropped() -> None:
    draft = Draft(FIRST, ((PASSAGE, FIRST),))
    assert run_verify(draft, given=(OTHER,), support=1.0) == [Fault("fabricated", dropped=True)]


def test_a_sentence_stitched_from_two_places_is_dropped() -> None:
    stitched = "A humanoid weighs about 15 kg never touch “hot” motors."
    assert not passes(stitched, "A humanoid weighs about 15 kg", "never touch “hot” motors.")


def test_a_sentence_stitched_from_two_passages_is_dropped_even_if_it_shows_the_gap() -> None:
    draft = Draft(
        "A humanoid weighs about 15 kg … than legs.",
        ((PASSAGE, FIRST), (OTHER, "Wheels are simpler than legs.")),
    )
    assert verify_sentences(draft) == []


def test_a_visibly_trimmed_sentence_is_shown() -> None:
    assert passes("A humanoid weighs about 15 kg …", FIRST)
    assert passes("… costs 3.5 million.", FIRST)
    assert passes("A humanoid … costs 3.5 million.", FIRST)


def test_a_trimmed_sentence_must_keep_the_books_order() -> None:
    assert not passes("costs 3.5 million … A humanoid", FIRST)


@pytest.mark.parametrize(
    "text",
    ["A humanoid weighs about 1 …", "… 5 million.", "… costs 3 …", "… 5 kg and costs", "A human …"],
)
def test_trimming_within_a_word_or_a_number_is_dropped(text: str) -> None:
    assert not passes(text, FIRST)


def test_words_beyond_the_quotes_are_dropped_even_if_the_passage_has_them() -> None:
    assert not passes(FIRST, "A humanoid weighs about 15 kg")


def test_a_sentence_is_shown_when_its_quotes_cover_it_piece_by_piece() -> None:
    assert passes(FIRST, "A humanoid weighs about", "15 kg and costs", "3.5 million.")
    assert not passes(FIRST, "A humanoid weighs about", "3.5 million.")


def test_pieces_that_occur_twice_are_found_in_their_order() -> None:
    code = "if a:\n  stop()\nif b:\n  stop()"
    passage = make_passage(("code", code))
    (sentence,) = verify_sentences(
        Draft(code, tuple((passage, piece) for piece in ("if a:", "stop()", "if b:", "stop()"))),
        given=(passage,),
    )
    places = [citation.char_start for citation in sentence.citations]
    assert places == sorted(set(places))


@pytest.mark.parametrize(
    "long",
    [
        "Each joint, " * 60 + "moves.",
        "word " * 150 + "end",
        "x" * 1200,
        "\n".join(f"    line_{n} {{ }}" for n in range(60)) + "\n}",
    ],
)
def test_a_unit_longer_than_a_quote_may_be_is_shown_whole_with_several_quotes(long: str) -> None:
    passage = make_passage(("code", long))
    evidence = Evidence(passage, passage.chunk.units[0], 0.9)
    plan = Plan("standard_rag", "q", 5, None, None)

    async def run() -> list[Sentence]:
        drafts = ExtractiveGenerator().compose(plan, Judgement(0.9, (0.9,), (evidence,)))
        checked = verify(drafts, (passage,), FakeSupport(0.0))
        return [one async for one in checked if isinstance(one, Sentence)]

    (sentence,) = asyncio.run(run())
    assert sentence.text.strip() == long.strip()
    assert len(sentence.citations) > 1
    assert all(len(citation.quote) <= 500 for citation in sentence.citations)
    assert "".join("".join(c.quote for c in sentence.citations).split()) == "".join(long.split())


def test_equal_passages_of_two_documents_are_told_apart() -> None:
    draft = Draft(
        FIRST, ((PASSAGE, "A humanoid weighs about 15 kg"), (TWIN, "and costs 3.5 million."))
    )
    assert verify_sentences(draft) == []


def test_only_the_bad_sentences_of_an_answer_are_dropped() -> None:
    good, bad = Draft(FIRST, ((PASSAGE, FIRST),)), Draft("Lies.", ((PASSAGE, "Lies."),))
    assert [sentence.text for sentence in verify_sentences(bad, good, bad)] == [FIRST]


def test_citations_are_numbered_by_their_sentence() -> None:
    sentences = verify_sentences(
        Draft(
            FIRST, ((PASSAGE, "A humanoid weighs about"), (PASSAGE, "15 kg and costs 3.5 million."))
        ),
        Draft(SECOND, ((PASSAGE, SECOND),)),
    )
    assert [index for index, _ in number_citations(tuple(sentences))] == [0, 0, 1]


def test_prose_is_joined_by_spaces_and_items_stand_on_lines() -> None:
    def text(*parts: tuple[str, UnitKind]) -> str:
        return answer_text([Sentence(words, (), kind) for words, kind in parts])

    assert text(("One.", "sentence"), ("Two!", "sentence")) == "One. Two!"
    steps = text(
        ("Do this:", "sentence"), ("First.", "item"), ("Second.", "item"), ("Done.", "sentence")
    )
    assert steps == "Do this:\n\n- First.\n- Second.\n\nDone."
    assert text(("So:", "sentence"), ("a = 1\nb = 2", "code")) == "So:\n\n```\na = 1\nb = 2\n```"


def test_an_item_is_shown_though_the_line_before_it_ends_in_a_letter() -> None:
    passage = make_passage(("item", "open the valve"), ("item", "close the lid"))
    assert passes("close the lid", passage=passage)


@pytest.mark.parametrize(
    ("text", "quote", "kind"),
    [
        (FIRST, "Robots dream of electric sheep at night.", "fabricated"),
        (FIRST, FIRST.replace("weighs", "lifts"), "altered_quote"),
        (FIRST, FIRST.replace("about ", ""), "altered_quote"),
        (FIRST, "A humanoid weighs about never touch “hot” motors.", "stitched"),
        (FIRST, "A humanoid weighs about 15 kg … simpler than legs.", "stitched"),
        (FIRST, "A humanoid weighs about 1", "altered_quote"),
        ("A humanoid costs about 3.5 billion.", FIRST, "contradicted"),
        (FIRST.replace("15", "16"), FIRST, "contradicted"),
        (FIRST.replace("kg", "g"), FIRST, "contradicted"),
        (FIRST.replace("weighs", "never weighs"), FIRST, "contradicted"),
        (FIRST.replace("about ", ""), FIRST, "unsupported"),
        ("Robots made by Lovelace are heavy and dear.", FIRST, "unsupported"),
        ("A humanoid is heavy.", "and", "unsupported"),
        ("A humanoid is \ud800 heavy.", FIRST, "unsupported"),
        ("heavy " * 400, FIRST, "unsupported"),
    ],
)
def test_each_failure_is_told_apart_even_from_a_judge_that_believes_all(
    text: str, quote: str, kind: FaultKind
) -> None:
    assert run_verify(Draft(text, ((PASSAGE, quote),)), support=1.0) == [Fault(kind, dropped=True)]


def test_a_sentence_in_other_words_is_shown_where_the_judge_finds_it_borne_out() -> None:
    draft = Draft("About 15 kilograms is what a humanoid weighs.", ((PASSAGE, FIRST),))
    assert run_verify(draft, support=SUPPORTED_FROM) == verify_sentences(draft, support=1.0) != []
    assert run_verify(draft, support=SUPPORTED_FROM - 0.01) == [Fault("unsupported", dropped=True)]


def test_a_stitched_sentence_that_the_judge_does_not_believe_is_told_as_stitched() -> None:
    text = "A humanoid weighs about never touch “hot” motors."
    quotes = ((PASSAGE, "A humanoid weighs about"), (PASSAGE, "never touch “hot” motors."))
    assert run_verify(Draft(text, quotes)) == [Fault("stitched", dropped=True)]


def test_the_judge_is_not_asked_about_the_books_own_words() -> None:
    asked = FakeSupport()

    async def run() -> None:
        drafts = _give_drafts(
            (Draft(FIRST, ((PASSAGE, FIRST),)), Draft("It …", ((PASSAGE, SECOND),)))
        )
        assert [type(one) async for one in verify(drafts, GIVEN, asked)] == [Sentence] * 2

    asyncio.run(run())
    assert asked.seen == []


def test_a_quote_that_stands_nowhere_is_left_out_where_another_does() -> None:
    fault, sentence = run_verify(
        Draft(FIRST, ((PASSAGE, FIRST), (PASSAGE, "Robots dream of sheep.")))
    )
    assert fault == Fault("fabricated", dropped=False)
    assert isinstance(sentence, Sentence)
    assert [citation.quote for citation in sentence.citations] == [FIRST]


def test_a_sentence_is_released_before_the_next_one_is_written() -> None:
    written: list[int] = []

    async def drafts() -> AsyncIterator[Draft]:
        for number in range(3):
            written.append(number)
            yield Draft(FIRST, ((PASSAGE, FIRST),))

    async def run() -> None:
        shown = 0
        async for _ in verify(drafts(), GIVEN, FakeSupport()):
            shown += 1
            assert len(written) == shown

    asyncio.run(run())


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=3))
def test_no_draft_is_too_odd_and_every_quote_shown_is_exact(text: str, quotes: list[str]) -> None:
    for sentence in verify_sentences(
        Draft(text, tuple((PASSAGE, quote) for quote in quotes)), support=1.0
    ):
        assert sentence.citations
        assert all(citation.stands for citation in sentence.citations)
