"""The hand-written corruptions: their structure, and how far claims are from what is true."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[3] / "evals" / "hand-corruptions.jsonl"
CLASSES = {
    "added_qualifier",
    "antonym",
    "cause_effect",
    "comparison",
    "modality",
    "negation",
    "number_unit",
    "role_swap",
    "scope",
    "time_order",
}
FIELDS = {"id", "class", "subject", "sentence", "faithful", "corrupted"}


@cache
def entries() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))


def test_every_class_has_at_least_ten_of_at_least_120_entries() -> None:
    classes = Counter(entry["class"] for entry in entries())
    assert classes.total() >= 120
    assert classes.keys() == CLASSES
    assert min(classes.values()) >= 10


def test_the_entries_are_spread_over_subjects() -> None:
    subjects = Counter(entry["subject"] for entry in entries())
    assert len(subjects) >= 12
    assert max(subjects.values()) <= len(entries()) / 10
    for name in CLASSES:
        same = [entry["subject"] for entry in entries() if entry["class"] == name]
        assert len(set(same)) == len(same), name


def test_entries_have_their_fields_and_unique_ids() -> None:
    assert all(entry.keys() == FIELDS for entry in entries())
    assert len({entry["id"] for entry in entries()}) == len(entries())


def test_no_text_occurs_twice() -> None:
    texts = [entry[name] for entry in entries() for name in ("sentence", "faithful", "corrupted")]
    assert [text for text, count in Counter(texts).items() if count > 1] == []


def test_a_faithful_rewording_uses_other_words_than_the_sentence() -> None:
    for entry in entries():
        assert words(entry["faithful"]) != words(entry["sentence"]), entry


def test_a_corrupted_claim_keeps_much_of_the_wording_it_corrupts() -> None:
    for entry in entries():
        claim = words(entry["corrupted"])
        kept = max(len(claim & words(entry[name])) for name in ("sentence", "faithful"))
        assert kept / len(claim) >= 0.4, entry
