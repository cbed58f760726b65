"""Calibrations on disk: one file next to each book's pointer, valid for the generation it names."""

import fcntl
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.generation_files import replace_file
from bythebook.domain.books import Book
from bythebook.domain.calibrations import Calibration, RelevanceMap, RiskPoint
from bythebook.errors import BusyBook, UnknownBook

_log = logging.getLogger("bythebook.calibrations")
_NAME = "calibration.json"


class CalibrationFiles:
    """Keeps books/<book>/calibration.json; a fit to another generation or judge counts as none."""

    def __init__(self, folder: BookFolder, judge_model: str) -> None:
        self._folder = folder
        self._judge_model = judge_model
        self._read = lru_cache(maxsize=256)(_read)

    def of(self, book: Book) -> Calibration | None:
        """Give the fit of just this generation; none where there is none or it cannot be read.

        The file is checked for each question, and read again only when it was replaced.
        """
        path = self._folder.root / book.book_id / _NAME
        try:
            seen = path.stat()
            fit = self._read(path, seen.st_mtime_ns, seen.st_ino, seen.st_size)
        except OSError:  # none, or not just now
            return None
        fits = (
            fit is not None
            and fit.generation == book.generation
            and fit.judge_model == self._judge_model
        )
        return fit if fits else None

    def keep(self, book_id: str, calibration: Calibration) -> None:
        """Put a fit in the place of the last one, whole or not at all; never over a newer one's."""
        with _alone(self._folder.root / book_id) as home:
            if not self._folder.is_live(book_id, calibration.generation):
                raise BusyBook(
                    f"The book {book_id!r} was published again meanwhile, so the fit was not kept.",
                    f"Run `bythebook calibrate {book_id}` again.",
                )
            replace_file(home / _NAME, json.dumps(asdict(calibration), indent=1) + "\n")


@contextmanager
def _alone(home: Path) -> Iterator[Path]:
    """Hold a book's folder against other writers of its fit; a run that ingests is not kept waiting."""
    try:
        descriptor = os.open(home, os.O_RDONLY)
    except FileNotFoundError as error:
        raise UnknownBook(f"There is no book {home.name!r} any more.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield home
    finally:
        os.close(descriptor)


def _read(path: Path, *_seen: int) -> Calibration | None:
    """Read a fit once for each file that was put there, and warn as often if it is no fit."""
    try:
        return _from_json(json.loads(path.read_text("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.warning("%s is damaged, so the default scores apply: %s", path, error)
        return None


def _from_json(value: Mapping[str, Any]) -> Calibration:
    relevance, reached = value["relevance"], value.get("reached")
    return Calibration(
        generation=_text(value["generation"]),
        embedding_model=_text(value["embedding_model"]),
        judge_model=_text(value["judge_model"]),
        false_answer_rate=_number(value["false_answer_rate"]),
        relevance=RelevanceMap(_number(relevance["midpoint"]), _number(relevance["slope"])),
        answer_from=_number(value["answer_from"]),
        own_questions=int(_number(value["own_questions"])),
        other_questions=int(_number(value["other_questions"])),
        curve=tuple(map(_risk_point, value["curve"])),
        changed=_number(value["changed"]),
        quick=value.get("quick", False) is True,
        reached=None if reached is None else _risk_point(reached),
    )


def _risk_point(value: Mapping[str, Any]) -> RiskPoint:
    names = ("threshold", "answered", "false_answers")
    return RiskPoint(*(_number(value[name]) for name in names))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
        raise ValueError(f"{value!r} is no number that a fit could hold")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
