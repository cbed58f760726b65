"""What every measured system shares: command-line arguments in, one line of JSON out."""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

Ingest = Callable[[Sequence[str]], Any]
Search = Callable[[Any, str], str | None]


def read_arguments() -> argparse.Namespace:
    """Read which texts to ingest, with which weights, in batches of how many."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=Path, required=True, help="JSON list of texts")
    parser.add_argument("--model", type=Path, help="folder of the weights")
    parser.add_argument("--batch", type=int, default=0)
    return parser.parse_args()


def measure(texts: Path, packages: Sequence[str], ingest: Ingest, search: Search) -> None:
    """Time one ingest, then check that the first text is found by its own words."""
    wanted: list[str] = json.loads(texts.read_text("utf-8"))
    ingest(wanted[:8])  # the first use of a model is not counted
    wall, processor = time.perf_counter(), time.process_time()
    index = ingest(wanted)
    figures = {
        "seconds": time.perf_counter() - wall,
        "processor_seconds": time.process_time() - processor,
        "found": search(index, wanted[0]) == wanted[0],
        "versions": {name: version(name) for name in packages},
    }
    print(json.dumps(figures))
