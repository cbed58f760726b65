"""Claims made by rule: what is changed, what stays true, and what training never sees."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from training import corrupt
from training.contrasts import MODALITY, SCOPE, adjective_forms, one_way, opposites, verb_forms
from training.corrupt import Edit, rephrase
from training.corrupted import Corrupter
from training.examples import Example, sentences

PASSAGE = (
    "The pump starts before the valve opens. Operators must not enter the room. "
    "If the pressure falls, the alarm rings for two minutes. Most sensors are cheap."
)
Way = Callable[..., Edit | None]


def example(**given: object) -> Example:
    values: dict[str, object] = {
        "source": "written test",
        "group": "squad Kenya",
        "task": "claim",
        "text": "Nobody who operates the plant may enter the room.",
        "head": "Plants > Pumps",
        "passage": PASSAGE,
        "units": sentences(PASSAGE),
        "holds": True,
        "evidence": (1,),
    }
    return Example(**{**values, **given})  # type: ignore[arg-type]


def all_results(way: Way, text: str, others: tuple[str, ...] = ()) -> set[str]:
    edits = [way(text, others, random.Random(seed)) for seed in range(60)]
    return {edit.text for edit in edits if edit is not None}


@pytest.mark.parametrize(
    ("way", "text", "changed"),
    [
        (corrupt.exchange_opposite, "The engine accepts it.", "The engine rejects it."),
        (corrupt.exchange_opposite, "It grew wider.", "It shrank wider."),
        (corrupt.change_modality, "Guests may wait.", "Guests must wait."),
        (corrupt.change_scope, "Most birds fly.", "All birds fly."),
        (corrupt.change_count, "It has two doors.", "It has seven doors."),
        (corrupt.negate, "The door is open.", "The door is not open."),
        (corrupt.negate, "It does not rain.", "It does rain."),
        (corrupt.swap_roles, "The dog chased the cat.", "The cat chased the dog."),
        (corrupt.swap_roles, "Ann is taller than Bob.", "Bob is taller than Ann."),
        (corrupt.swap_roles, "We sailed from Riga to Oslo.", "We sailed from Oslo to Riga."),
        (corrupt.drop_condition, "If it rains hard, we stay at home.", "We stay at home."),
        (
            corrupt.swap_reason,
            "The road was closed because the bridge had fallen.",
            "The bridge had fallen because the road was closed.",
        ),
    ],
)
def test_each_way_changes_what_a_sentence_says(way: Way, text: str, changed: str) -> None:
    assert changed in all_results(way, text)


def test_details_are_added_to_a_sentence_that_stays() -> None:
    found = all_results(corrupt.add_detail, "The lamp glows.")
    assert len(found) > 20
    assert all(text.startswith("The lamp glows ") for text in found)


def test_another_sentences_reason_is_taken() -> None:
    others = ("The tank is full because nobody opened the drain.",)
    found = all_results(corrupt.splice, "The alarm rings loudly because smoke rises.", others)
    assert found == {"The alarm rings loudly because nobody opened the drain."}


@pytest.mark.parametrize(
    ("way", "text"),
    [
        (corrupt.exchange_opposite, "It rains before and after noon."),  # both words stand there
        (corrupt.swap_roles, "The cat and the dog play."),
        (corrupt.swap_roles, "The price differs between the shops."),
        (corrupt.drop_condition, "It rains."),
        (corrupt.change_modality, "It rains."),
    ],
)
def test_a_sentence_without_a_place_for_a_change_gives_nothing(way: Way, text: str) -> None:
    assert all_results(way, text) == set()


def test_rephrasing_exchanges_no_opposite_and_drops_no_negation() -> None:
    text = "However, the server does not start automatically (see above)."
    found = {rephrase(text, random.Random(seed)) for seed in range(80)}
    assert len(found) > 8
    assert all("not" in one or "n't" in one for one in found)
    assert not any("stop" in one or "manually" in one for one in found)


def test_words_take_the_same_form_on_both_sides() -> None:
    assert verb_forms("deny") == ("deny", "denies", "denied", "denied", "denying")
    assert verb_forms("stop")[2:] == ("stopped", "stopped", "stopping")
    assert verb_forms("agree")[-1] == "agreeing"
    assert adjective_forms("heavy") == ("heavy", "heavier", "heaviest")
    pairs = {(one.old, one.new) for one in opposites()}
    assert {("heavier", "lighter"), ("bought", "sold"), ("sold", "bought")} <= pairs


def test_words_named_in_reports_are_measured_and_never_learnt() -> None:
    held_out = {(one.old, one.new) for one in opposites() if one.held_out}
    assert {("starts", "halts"), ("halts", "starts"), ("lighter", "heavier")} <= held_out
    assert any(
        one.held_out for one in one_way(MODALITY) if (one.old, one.new) == ("must not", "may")
    )
    learnt = [one for one in (*opposites(), *one_way(SCOPE)) if not one.held_out]
    assert len(learnt) > 5 * len(held_out)


def test_no_word_held_out_is_exchanged_in_what_training_reads() -> None:
    kinds = {
        split: {
            made.kind
            for seed in range(150)
            for made in Corrupter(seed).make([example(group=group)])
        }
        for split, group in (("train", "squad Kenya"), ("tune", "squad Normans"))
    }
    assert any(kind.endswith("new words") for kind in kinds["tune"])
    assert not any(kind.endswith("new words") for kind in kinds["train"])


def test_a_changed_sentence_is_wrong_over_its_passage_and_right_over_one_that_says_it() -> None:
    asked = example(
        task="question", text="Who may enter?"
    )  # only the passage's sentences are claimed
    made = [one for seed in range(60) for one in Corrupter(seed).make([asked])]
    wrong = {one.text for one in made if not one.holds}
    right = {one.text for one in made if one.holds}
    assert wrong & right
    for one in made:
        said = " ".join(one.passage[slice(*one.units[n])] for n in one.evidence)
        if one.text in wrong & right:
            assert one.holds == (one.text in said)


def test_units_still_name_their_sentences_after_a_change_of_the_passage() -> None:
    original = {PASSAGE[start:end] for start, end in sentences(PASSAGE)}
    for seed in range(60):
        for one in Corrupter(seed).make([example()]):
            units = [one.passage[start:end] for start, end in one.units]
            assert " ".join(units) == one.passage
            assert len([unit for unit in units if unit not in original]) <= 1


def test_a_word_that_stands_everywhere_is_not_exchanged_every_time() -> None:
    many = [
        replace(example(), text=f"Room {n} is open.", passage=f"Room {n} is open. It is warm.")
        for n in range(300)
    ]
    many = [replace(one, units=sentences(one.passage), evidence=(0,)) for one in many]
    made = list(Corrupter(1).make(many))
    assert 0 < sum("closed" in one.text and not one.holds for one in made) <= 90
