"""Reads the JSON lines of a public set."""

import json
from pathlib import Path
from typing import Any

from bythebook.errors import BadQuestions
from bythebook.evaluate.sets import read_set

Row = dict[str, Any]


def read_json_lines(path: Path) -> list[Row]:
    """Read one object per line; the module of each set knows its fields."""
    try:
        return [json.loads(line) for line in read_set(path).split("\n") if line.strip()]
    except ValueError as error:
        raise BadQuestions(f"{path.name} is not JSON lines.", "Fetch the set again.") from error
