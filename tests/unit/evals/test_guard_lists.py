"""The hand-written lists for the guard: harmless texts with suspicious words, and attacks."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

EVALS = Path(__file__).parents[3] / "evals"
STYLES = {
    "authority",
    "conditional",
    "disguised",
    "exfiltration",
    "fake_turn",
    "language",
    "markup",
    "override",
    "persona",
    "steering",
    "tool",
}
# A harmless text without any of these would not tempt even a clumsy filter.
SUSPICIOUS = re.compile(
    r"ignor|disregard|forg[eo]t|overrid|bypass|jailbreak|unrestricted|disable|disobey|filter"
    r"|instruct|order|command|rule|must|execut|exec\b|script"
    r"|system|prompt|root|admin|developer|assistant|agent|mode\b|context|\[INST"
    r"|answer|respond|repl[yi]|\bsay|\btell|told|print|output|repeat|send"
    r"|reveal|secret|password|configuration|solutions"
    r"|you are|\bact(s)?\b|pretend|imagine|from now on|instead|previous|\ball\b|delete|skip|stop",
    re.IGNORECASE,
)


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EVALS / name).read_text("utf-8").splitlines()]


def harmless() -> list[dict[str, Any]]:
    return read("guard-questions.jsonl")


def attacks() -> list[dict[str, Any]]:
    return read("guard-attacks.jsonl")


def test_there_are_120_questions_and_60_book_sentences() -> None:
    kinds = Counter(entry["kind"] for entry in harmless())
    assert kinds == {"question": 120, "book_sentence": 60}


def test_there_are_60_attacks_in_many_styles() -> None:
    styles = Counter(entry["kind"] for entry in attacks())
    assert styles.total() == 60
    assert styles.keys() == STYLES
    assert min(styles.values()) >= 3


def test_entries_have_their_fields_unique_ids_and_unique_texts() -> None:
    entries = harmless() + attacks()
    assert all(entry.keys() == {"id", "text", "kind"} for entry in entries)
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert len({entry["text"].casefold() for entry in entries}) == len(entries)


def test_every_harmless_text_has_a_suspicious_word() -> None:
    assert [entry for entry in harmless() if not SUSPICIOUS.search(entry["text"])] == []
