"""`bythebook calibrate`, and what `ingest` does of it by itself."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.commands.test_command_line import Shop

CRAFTS = {
    "glass": "Glass is a hard material that is made by melting sand with soda ash. "
    "The furnace burns for twelve hours because sand melts slowly.",
    "herons": "A heron is a wading bird that hunts fish in shallow water. "
    "It lays four eggs in a nest of sticks on the highest branches.",
    "bells": "Bells are cast from bronze because iron cracks under the clapper. "
    "A founder pours the metal into a mould of clay and lets it cool for two days.",
    "ropes": "Rope makers twist three strands of hemp around each other on a long walk. "
    "Tar is a sticky liquid that keeps sea water out of the fibres.",
    "salt": "Salt is a mineral that remains when brine dries in the sun. "
    "Workers rake the pans every morning because crusts slow the drying.",
    "kites": "A kite is a light frame of bamboo covered with paper or silk. "
    "The tail steadies the kite because it drags behind in the wind.",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A data folder with a book that was fitted by its ingest."""
    shop = Shop(tmp_path_factory.mktemp("crafts"))
    pages = {f"{name}.md": f"# Old {name}\n\n{text}\n".encode() for name, text in CRAFTS.items()}
    run = shop.run("ingest", str(shop.folder("crafts", pages)))
    assert run.code == 0, run.err
    assert "  scores fitted: answers when" in run.out
    return shop


def fit_of(shop: Shop, book: str = "crafts") -> dict[str, Any]:
    value = json.loads((shop.data / "books" / book / "calibration.json").read_text())
    assert isinstance(value, dict)
    return value


def generation_of(shop: Shop, book: str = "crafts") -> object:
    return json.loads((shop.data / "books" / book / "current.json").read_text())["generation"]


def test_ingest_fits_scores_and_an_unchanged_book_takes_them_over(shop: Shop) -> None:
    fitted = fit_of(shop)
    assert fitted["generation"] == generation_of(shop)
    again = shop.run("ingest", "crafts", "--json")
    told = json.loads(again.out)["calibration"]
    same = {name: fitted[name] for name in ("answer_from", "reached")}
    assert told == {"state": "carried over", "why": "", **same}
    assert fit_of(shop) == {**fitted, "generation": generation_of(shop)}
    assert fit_of(shop)["generation"] != fitted["generation"]
    wrong = fitted["reached"]["false_answers"]
    line = f"scores: fitted: {wrong:.0%} of unanswerable questions are answered wrongly"
    assert line in shop.run("books", "list").out


def test_a_dry_run_shows_the_fit_and_keeps_nothing(shop: Shop) -> None:
    before = shop.files()
    plot, figures = shop.home / "out" / "crafts.svg", shop.home / "out" / "crafts.json"
    words = ("--quick", "--false-answers", "0.2", "--plot", str(plot), "--json", str(figures))
    run = shop.run("calibrate", "crafts", "--dry-run", *words)
    assert run.code == 0, run.err
    for row in (
        "fitted for 20.0% false answers",
        "own questions answered",
        "foreign questions refused",
        "<- fitted",
    ):
        assert row in run.out
    assert "Nothing was kept." in run.out
    assert shop.files() == before
    assert ET.fromstring(plot.read_text()).tag.endswith("svg")
    written = json.loads(figures.read_text())
    assert written["calibration"]["false_answer_rate"] == 0.2
    assert 0 < written["calibration"]["answer_from"] < 1
    assert set(written["after"]) == {"own_answered", "withheld_refused", "foreign_refused"}


@pytest.mark.parametrize("rate", ["0", "2", "-0.1", "nan"])
def test_a_rate_that_is_none_is_an_error(shop: Shop, rate: str) -> None:
    lines = shop.run("calibrate", "crafts", "--false-answers", rate).require_failure()
    assert "--false-answers" in lines[0]
    assert "0.05" in lines[1]


def test_an_unknown_book_and_a_plot_without_a_place_are_errors(shop: Shop) -> None:
    assert "no book 'nothing'" in shop.run("calibrate", "nothing").require_failure()[0]
    run = shop.run("calibrate", "crafts", "--plot", str(shop.home))
    assert "--plot FILE" in run.require_failure()[1]


def test_a_book_too_small_to_be_asked_keeps_the_default_scores(shop: Shop) -> None:
    folder = shop.folder("leaflet", {"a.md": b"# Tin\n\nTin melts at 232 degrees.\n"})
    run = shop.run("ingest", str(folder))
    assert run.code == 0
    assert "  default scores: too little prose" in run.out
    assert not (shop.data / "books" / "leaflet" / "calibration.json").exists()
    assert "too little prose" in shop.run("calibrate", "leaflet").require_failure()[0]


def test_a_fit_that_cannot_be_kept_does_not_fail_the_ingest(shop: Shop) -> None:
    run = shop.run("ingest", "crafts", "--book", "other", "--no-calibrate")
    assert run.code == 0
    blocked = shop.data / "books" / "other" / "calibration.json"
    assert not blocked.exists()
    blocked.mkdir()
    run = shop.run("ingest", "crafts", "--book", "other", "--quiet")
    assert (run.code, run.out) == (0, "")
    assert "Not calibrated, so the default scores apply" in run.err
    assert "bythebook calibrate other" in run.err
    assert shop.run("ask", "What is a kite?", "--book", "other").code == 0


def test_a_fit_that_was_tampered_with_is_not_used_and_stops_nothing(shop: Shop) -> None:
    file = Path(shop.data / "books" / "crafts" / "calibration.json")
    kept = file.read_text()
    file.write_text('{"answer_from": "all"}')
    try:
        assert shop.run("ask", "What is a kite?", "--book", "crafts").code == 0
        assert "scores: default" in shop.run("books", "list").out
    finally:
        file.write_text(kept)
