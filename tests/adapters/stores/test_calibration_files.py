import json
import logging
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.book_json import book_to_json
from bythebook.adapters.library.calibration_files import CalibrationFiles
from bythebook.domain.books import Book
from bythebook.domain.calibrations import Calibration, RelevanceMap, RiskPoint
from bythebook.errors import BusyBook, UnknownBook

JUDGE = "judge@1"
BOOK = Book("tales", "Tales", "g1", "model", 1, 1, 19, "tales", "2026-01-01T00:00:00Z")
FIT = Calibration(
    "g1", "model", JUDGE, 0.05, RelevanceMap(0.35, 18.5), 0.47, 60, 66,
    (RiskPoint(0.0, 1.0, 0.6), RiskPoint(1.0, 0.0, 0.0)), 0.02,
)  # fmt: skip


def publish(root: Path, generation: str) -> Book:
    book = replace(BOOK, generation=generation)
    home = root / "books" / "tales"
    home.mkdir(parents=True, exist_ok=True)
    (home / "current.json").write_text(json.dumps(book_to_json(book)))
    return book


def files(root: Path, judge: str = JUDGE) -> CalibrationFiles:
    return CalibrationFiles(BookFolder(root), judge)


def file_of(root: Path) -> Path:
    return root / "books" / "tales" / "calibration.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    publish(tmp_path, "g1")
    return tmp_path


def test_a_fit_comes_back_as_it_was_kept_and_leaves_nothing_else(root: Path) -> None:
    assert files(root).of(BOOK) is None
    files(root).keep("tales", FIT)
    assert files(root).of(BOOK) == FIT
    assert sorted(path.name for path in file_of(root).parent.iterdir()) == [
        "calibration.json",
        "current.json",
    ]


def test_a_fit_to_another_generation_or_judge_counts_as_none(root: Path) -> None:
    files(root).keep("tales", FIT)
    assert files(root).of(replace(BOOK, generation="g2")) is None
    assert files(root, "judge@2").of(BOOK) is None


def test_a_serving_process_sees_a_new_fit_at_once(root: Path) -> None:
    serving, other = files(root), files(root)
    other.keep("tales", FIT)
    assert serving.of(BOOK) == FIT
    newer = replace(FIT, answer_from=0.61)
    other.keep("tales", newer)
    assert serving.of(BOOK) == newer
    file_of(root).unlink()
    assert serving.of(BOOK) is None


def test_an_unchanged_fit_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(root).keep("tales", FIT)
    serving = files(root)
    assert serving.of(BOOK) == FIT

    def read_again(*_: object) -> str:
        raise AssertionError("the file was read again")

    monkeypatch.setattr(Path, "read_text", read_again)
    assert serving.of(BOOK) == FIT


def test_between_a_new_generation_and_its_fit_the_default_applies(root: Path) -> None:
    serving = files(root)
    serving.keep("tales", FIT)
    second = publish(root, "g2")
    assert serving.of(second) is None
    serving.keep("tales", replace(FIT, generation="g2"))
    assert serving.of(second) == replace(FIT, generation="g2")


def test_a_slow_fit_does_not_replace_that_of_a_newer_generation(root: Path) -> None:
    second = publish(root, "g2")
    newer = replace(FIT, generation="g2")
    files(root).keep("tales", newer)
    with pytest.raises(BusyBook, match="published again"):
        files(root).keep("tales", FIT)
    assert files(root).of(second) == newer


def test_the_fit_of_a_book_that_was_removed_is_an_error(root: Path) -> None:
    with pytest.raises(UnknownBook):
        files(root).keep("gone", FIT)


def test_readers_never_see_half_a_fit_while_many_write(root: Path) -> None:
    fits = [replace(FIT, answer_from=(n + 1) / 100, own_questions=10**n) for n in range(6)]
    files(root).keep("tales", fits[0])

    def write(fit: Calibration) -> None:
        for _ in range(15):
            files(root).keep("tales", fit)

    writers = [threading.Thread(target=write, args=(fit,)) for fit in fits]
    for writer in writers:
        writer.start()
    reader, seen = files(root), []
    while any(writer.is_alive() for writer in writers):
        seen.append(reader.of(BOOK))
    assert all(one in fits for one in seen)


def test_a_write_that_fails_leaves_the_old_fit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(root).keep("tales", FIT)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files(root).keep("tales", replace(FIT, answer_from=0.9))
    monkeypatch.undo()
    assert files(root).of(BOOK) == FIT


def write_changed(**values: object) -> str:
    files_value = {
        "generation": "g1", "embedding_model": "model", "judge_model": JUDGE,
        "false_answer_rate": 0.05, "relevance": {"midpoint": 0.35, "slope": 18.5},
        "answer_from": 0.47, "own_questions": 60, "other_questions": 66, "curve": [], "changed": 0.0,
    }  # fmt: skip
    return json.dumps({**files_value, **values})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[1, 2]",
        "[" * 100_000,
        write_changed(answer_from=1.0),
        write_changed(answer_from=0),
        write_changed(answer_from="0.5"),
        write_changed(answer_from=True),
        write_changed(answer_from=float("nan")),
        write_changed(relevance={"midpoint": 0.3, "slope": 0}),
        write_changed(relevance={"midpoint": 0.3, "slope": float("inf")}),
        write_changed(relevance={"midpoint": 10**400, "slope": 20}),
        write_changed(relevance=[0.3, 20]),
        write_changed(false_answer_rate=2),
        write_changed(curve=[{"threshold": 0.1}]),
        write_changed(curve=7),
        write_changed(generation=["g1"]),
    ],
)
def test_a_damaged_fit_counts_as_none_and_is_warned_of_once(
    root: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    file_of(root).write_text(text)
    serving = files(root)
    with caplog.at_level(logging.WARNING):
        assert [serving.of(BOOK) for _ in range(3)] == [None, None, None]
    assert len(caplog.records) == 1
    assert "calibration.json" in caplog.text


def test_a_hand_written_fit_that_makes_sense_is_used(root: Path) -> None:
    file_of(root).write_text(write_changed(answer_from=0.5))
    found = files(root).of(BOOK)
    assert found is not None
    assert found.answer_from == 0.5


def test_a_fit_that_is_no_text_or_no_file_counts_as_none(root: Path) -> None:
    file_of(root).write_bytes(b"\xff\xfe\x00")
    assert files(root).of(BOOK) is None
    file_of(root).unlink()
    file_of(root).mkdir()
    assert files(root).of(BOOK) is None


def test_a_fit_knows_whether_it_was_made_in_haste_and_an_older_file_does_not_say(
    root: Path,
) -> None:
    file_of(root).write_text(write_changed(quick=True))
    assert getattr(files(root).of(BOOK), "quick", None) is True
    file_of(root).write_text(write_changed())
    assert getattr(files(root).of(BOOK), "quick", None) is False
