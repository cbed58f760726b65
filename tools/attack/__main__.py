"""Attack a started service and print how each attack ended: `make attack`; ends with 1 if one got through."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from tools.attack import damage, details, doors, load, slow
from tools.attack.service import BOOK, Check, run_command

ROOT = Path(__file__).resolve().parents[2]
Attack = Callable[[Path], Iterator[Check]]


def main() -> None:
    """Run the attacks, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="Attacks to run; none: all of them.")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0, help="Of each crowd of clients.")
    options = parser.parse_args()
    questions = _load_questions()
    attacks: dict[str, Attack] = {
        "doors": doors.attack,
        "slow": slow.attack,
        "damage": damage.attack,
        "details": details.attack,
        "load": lambda folder: load.attack(folder, questions, options.seconds),
    }
    checks: list[Check] = []
    for name, attack in attacks.items():
        if options.names and name not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="bythebook-attack-") as folder:
            ingested = run_command(Path(folder), "ingest", "examples/book", "--book", BOOK)
            if ingested.returncode:
                sys.exit(ingested.stderr)
            for check in attack(Path(folder)):
                print(
                    f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.found}", flush=True
                )
                checks.append(check)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps([asdict(check) for check in checks], indent=1))
    failed = sum(not check.passed for check in checks)
    print(f"{len(checks)} attacks, {failed} got through")
    sys.exit(bool(failed))


def _load_questions() -> list[str]:
    lines = (ROOT / "evals" / "sample-book.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["question"] for row in rows if row["kind"] == "answered"]


if __name__ == "__main__":
    main()
