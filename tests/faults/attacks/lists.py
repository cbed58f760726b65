"""Attacks that were written by hand, one a line: `fresh` and `held_out`, without sight of the rules they try."""

import json
from pathlib import Path
from typing import Any

from tests.faults.attacks.attack import Attack, Say, Topic


def load_attacks(name: str) -> list[Attack]:
    """Load one list."""
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines()
    return [_attack(json.loads(line)) for line in lines]


def _attack(row: dict[str, Any]) -> Attack:
    return Attack(
        **row
        | {
            "says": tuple(Say(**says) for says in row["says"]),
            "topic": Topic(**row["topic"]),
            "calls": tuple((name, arguments) for name, arguments in row["calls"]),
            "uninvited": tuple((name, arguments) for name, arguments in row["uninvited"]),
        }
    )
