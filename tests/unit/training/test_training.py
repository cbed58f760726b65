"""The parts of training that need no torch: what examples say, and how they are cut."""

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest
from training import public_sets
from training.encoding import encode
from training.examples import Example, crop, read, sentences, units_of_span, write
from training.fit import logistic, without_answer
from training.mine import remove_evidence
from training.weights import tokenizer_file
from training.written import BOOKS, QUESTIONS

from bythebook.adapters.models.judge_model import MOST_TOKENS, NO_UNIT
from bythebook.ask.retrieve.passages import selection_passage

TEXT = "The heron eats fish. It nests in tall trees. Its eggs are blue."


def example(text: str = TEXT, **given: object) -> Example:
    values: dict[str, object] = {
        "source": "test",
        "group": "test 1",
        "task": "question",
        "text": "Where does the heron nest?",
        "head": "Birds > Herons",
        "passage": text,
        "units": sentences(text),
        "holds": True,
        "evidence": (1,),
        "span": (text.index("tall"), text.index("trees") + 5) if "tall" in text else None,
    }
    return Example(**{**values, **given})  # type: ignore[arg-type]


def test_examples_are_read_as_they_were_written(tmp_path: Path) -> None:
    both = [example(), example(holds=False, evidence=(), span=None, kind="look-alike")]
    assert write(tmp_path / "some.jsonl", iter(both)) == 2
    assert list(read(tmp_path / "some.jsonl")) == both


def test_a_group_is_held_back_whole_and_only_some_are() -> None:
    splits = [example(group=f"page {number}").split for number in range(300)]
    assert 5 <= splits.count("tune") <= 40
    assert example(group="squad Normans").split == "tune"
    assert example(group="squad Kenya").split == "train"


def test_tokens_know_their_unit_and_the_answers_words_are_found() -> None:
    (one,) = encode([example()], tokenizer_file())
    assert one.units[0] == one.units[-1] == NO_UNIT
    assert sorted({int(unit) for unit in one.units}) == [NO_UNIT, 0, 1, 2]
    assert one.span is not None
    assert {int(one.units[place]) for place in one.span} == {1}


def test_a_long_passage_is_cut_around_its_evidence() -> None:
    filler = "Nothing is said of it here, in this long sentence about the weather. " * 40
    text = f"{filler}It nests in tall trees. {filler}"
    units = sentences(text)
    here = units_of_span(units, (text.index("tall"), text.index("tall") + 4))
    (one,) = encode([example(text, units=units, evidence=here)], tokenizer_file())
    assert len(one.ids) <= MOST_TOKENS
    assert here[0] in one.units
    assert one.span is not None
    assert int(one.units[one.span[0]]) == here[0]


def test_what_no_window_holds_is_left_out() -> None:
    text = "word " * 400
    assert encode([example(text, evidence=(0,), span=None)], tokenizer_file()) == []


def test_squads_paragraphs_give_answers_with_their_sentence_and_look_alikes(tmp_path: Path) -> None:
    asked = [
        {"question": "What does it eat?", "answers": [{"text": "fish", "answer_start": 15}]},
        {"question": "What does it drink?", "answers": [], "is_impossible": True},
    ]
    paragraphs = [{"context": TEXT, "qas": asked}]
    folder = tmp_path / "squad2"
    folder.mkdir()
    (folder / "squad2_train.json").write_text(
        json.dumps({"data": [{"title": "Grey_heron", "paragraphs": paragraphs}]})
    )
    (folder / "squad1_other_articles.json").write_text(json.dumps({"data": []}))
    eats, drinks = public_sets.squad(tmp_path)
    assert (eats.holds, eats.evidence, eats.head) == (True, (0,), "Grey heron")
    assert eats.passage[slice(*(eats.span or (0, 0)))] == "fish"
    assert (drinks.holds, drinks.evidence, drinks.kind) == (False, (), "look-alike")


def test_a_tales_other_section_is_a_passage_without_the_answer(tmp_path: Path) -> None:
    folder = tmp_path / "fairytaleqa"
    folder.mkdir()
    with (folder / "train.csv").open("w", newline="") as file:
        names = ("story_name", "content", "question", "answer1", "ex_or_im")
        table = csv.DictWriter(file, names)
        table.writeheader()
        for number in range(20):
            content = f"the king had {number} sons . they rode out ."
            asked = ("a-king", content, "how many sons ?", f"{number} sons", "explicit")
            table.writerow(dict(zip(names, asked, strict=True)))
    found = list(public_sets.tales(tmp_path))
    assert sum(one.holds for one in found) == 20
    missed = [one for one in found if not one.holds]
    assert missed
    assert all(one.evidence == (0,) for one in found if one.holds)
    assert {one.kind for one in missed} == {"retrieved"}


def test_no_book_that_is_reported_on_is_learnt_from() -> None:
    reported = ("turing-way", "quantecon-intro", "sample")
    named = {*BOOKS, *BOOKS.values(), *(path.stem for path in QUESTIONS.glob("*.jsonl"))}
    assert not [name for name in named if any(one in name for one in reported)]


@pytest.mark.parametrize("book_id", sorted(path.stem for path in QUESTIONS.glob("*.jsonl")))
def test_what_we_wrote_names_a_passage_a_kind_and_sentences(book_id: str) -> None:
    assert book_id == "squad" or book_id in BOOKS
    lines = (QUESTIONS / f"{book_id}.jsonl").read_text("utf-8").splitlines()
    assert len(lines) >= 20
    for line in lines:
        entry = json.loads(line)
        assert len(entry["passage"]) == 16
        for kind, numbers, text in entry["items"]:
            assert kind in {"Q", "N", "S", "U"}
            assert bool(numbers) == (kind in "QS")
            assert 8 <= len(text) <= 600


def test_a_cropped_passage_keeps_its_evidence_and_the_answers_words() -> None:
    chooser = random.Random(1)
    whole = example()
    lengths = set()
    for _ in range(40):
        part = crop(whole, chooser)
        lengths.add(len(part.units))
        (number,) = part.evidence
        assert part.passage[slice(*part.units[number])] == "It nests in tall trees."
        assert part.passage[slice(*(part.span or (0, 0)))] == "tall trees"
    assert lengths == {1, 2, 3}


def test_what_does_not_hold_is_cropped_to_something() -> None:
    chooser = random.Random(1)
    none = example(holds=False, evidence=(), span=None, kind="look-alike")
    parts = [crop(none, chooser) for _ in range(40)]
    assert {len(part.units) for part in parts} == {1, 2, 3}
    assert not any(part.holds or part.evidence or part.span for part in parts)


def test_a_passage_without_its_evidence_does_not_hold() -> None:
    (rest,) = remove_evidence([example()], 1)
    assert (rest.holds, rest.evidence, rest.span, rest.kind) == (False, (), None, "taken away")
    assert rest.passage == "The heron eats fish. Its eggs are blue."
    assert rest.text == example().text


def test_an_answer_that_is_said_twice_is_not_taken_away() -> None:
    text = "It nests in tall trees. Herons like fish. Look for tall trees."
    assert list(remove_evidence([example(text, evidence=(0,), span=(12, 22))], 1)) == []


def test_what_is_withheld_is_every_passage_with_an_answer() -> None:
    other = selection_passage("Herons stand still for hours.")
    found = [selection_passage(TEXT), other, selection_passage("So:\nit  nests in tall trees.")]
    assert without_answer(example(), found) == [other]
    assert without_answer(example(evidence=()), found) == found[1:]


def test_a_logistic_fit_finds_the_odds_that_made_the_labels() -> None:
    chooser = np.random.default_rng(1)
    inputs = chooser.normal(size=(4000, 2))
    odds = 2 * inputs[:, 0] - 0.5
    labels = (chooser.random(4000) < 1 / (1 + np.exp(-odds))).astype(float)
    first, second, constant = logistic(inputs, labels, np.ones(4000))
    assert first == pytest.approx(2, abs=0.25)
    assert second == pytest.approx(0, abs=0.15)
    assert constant == pytest.approx(-0.5, abs=0.15)
