"""The bar that an ingest shows at a terminal."""

import io

import pytest
from rich.console import Console
from tests.unit.fakes import Clock

from bythebook.cli import reporting
from bythebook.cli.reporting import Pace, ingest_progress
from bythebook.ingest.report import Progress


def test_a_bar_opens_without_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr(reporting, "err", shown)
    with ingest_progress() as show:
        show(Progress("embedding", 64, 1000, tokens=12_000))
        show(Progress("embedding", 128, 1000, tokens=24_000))
    assert isinstance(shown.file, io.StringIO)
    printed = shown.file.getvalue()
    assert "Embedding" in printed
    assert "tokens/s" not in printed


def test_a_rate_counts_only_what_was_timed() -> None:
    clock = Clock()
    pace = Pace(clock)
    began = clock.now
    assert pace.note(0) == ""
    told = []
    for seconds, tokens in ((30, 5_000), (30.5, 6_000), (32, 9_000), (40, 25_000)):
        clock.now = began + seconds
        told.append(pace.note(tokens))
    assert told == ["", "", "2,000 tokens/s", "2,000 tokens/s"]
