"""The long forms of the tests under load, one after the other: `make soak`.

Each series is a test that also runs with every other, at a hundredth of the length; here it runs at
full length, and one line says how it went. Ends with 1 if any series found a violation.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Series:
    """A test and how long it is to be."""

    name: str
    test: str
    length: Mapping[str, str]


SERIES = (
    Series(
        "memory",
        "tests/faults/test_load.py::test_nothing_piles_up_over_many_requests",
        {"REQUESTS": "20000"},
    ),
    Series(
        "kills",
        "tests/faults/test_service_kill.py"
        "::test_no_acknowledged_exchange_is_lost_when_the_service_is_killed",
        {"KILLS": "100"},
    ),
    Series(
        "records-kills",
        "tests/faults/test_records_kill.py::test_no_acknowledged_message_is_lost_by_a_kill",
        {"RECORD_KILLS": "100"},
    ),
    Series(
        "writers",
        "tests/faults/test_load.py"
        "::test_thirty_two_writers_of_two_processes_never_find_the_records_locked",
        {"WRITER_SECONDS": "30"},
    ),
    Series("streams", "tests/faults/test_streams.py", {"STREAMS": "500"}),
    Series("outage", "tests/faults/test_model_outage.py::test_in_real_time", {"SLOW": "1"}),
    Series(
        "stall",
        "tests/faults/test_model_misbehaviours.py"
        "::test_a_stalled_model_is_given_up_at_the_real_deadline",
        {"SLOW": "1"},
    ),
)


@dataclass(frozen=True, slots=True)
class Result:
    """How a series went."""

    name: str
    passed: bool
    seconds: float
    length: Mapping[str, str]
    figures: Mapping[str, str] = field(default_factory=dict)
    violation: str = ""

    def line(self) -> str:
        """Say it in one line."""
        values = {**self.length, **self.figures}
        figures = "; ".join(f"{name}: {value}" for name, value in values.items())
        verdict = "ok" if self.passed else f"VIOLATION: {self.violation}"
        return f"{self.name:<14} {self.seconds:>6.0f} s  {verdict}  {figures}"


def run(series: Series) -> Result:
    """Run a series at its length; the environment may set another."""
    length = {name: os.environ.get(name, value) for name, value in series.length.items()}
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bythebook-soak-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-s", series.test, f"--junitxml={report}"]
        command += ["-o", "junit_family=xunit1"]  # the one that has room for figures
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, **length}, check=False)
        figures, violation = _read(report)
    if code.returncode and not violation:
        violation = f"pytest ended with {code.returncode}"
    taken = round(time.monotonic() - started, 1)
    return Result(series.name, not violation, taken, length, figures, violation)


def _read(report: Path) -> tuple[dict[str, str], str]:
    """Read what a test recorded, and the first line of what went wrong; a skip is wrong too."""
    if not report.exists():
        return {}, "pytest reported nothing"
    tree = ET.parse(report)  # noqa: S314 - written by our own test just now
    figures = {one.attrib["name"]: one.attrib["value"] for one in tree.iter("property")}
    for kind in ("failure", "error", "skipped"):
        for found in tree.iter(kind):
            return figures, f"{kind}: {found.attrib.get('message', '')}".splitlines()[0][:300]
    return figures, ""


def main() -> None:
    """Run what is asked for, print a line each, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=[one.name for one in SERIES], action="append")
    options = parser.parse_args()
    results = [run(one) for one in SERIES if not options.only or one.name in options.only]
    print()
    for result in results:
        print(result.line())
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps([asdict(one) for one in results], indent=1))
    sys.exit(not all(result.passed for result in results))


if __name__ == "__main__":
    main()
