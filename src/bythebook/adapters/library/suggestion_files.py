"""Suggested questions on disk: books/<book>/suggestions.json, of one generation."""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.generation_files import replace_file
from bythebook.domain.books import Book
from bythebook.domain.suggestions import Suggestion

_log = logging.getLogger("bythebook.suggestions")
_NAME = "suggestions.json"


class SuggestionFiles:
    """Keeps the suggestions of each book; those of another generation count as none."""

    def __init__(self, folder: BookFolder) -> None:
        self._folder = folder
        self._read = lru_cache(maxsize=256)(_read)

    def of(self, book: Book) -> tuple[Suggestion, ...]:
        """Return the suggestions of exactly this generation."""
        path = self._folder.root / book.book_id / _NAME
        try:
            seen = path.stat()
        except OSError:
            return ()
        generation, suggestions = self._read(path, seen.st_mtime_ns, seen.st_ino, seen.st_size)
        return suggestions if generation == book.generation else ()

    def keep(self, book: Book, suggestions: Sequence[Suggestion]) -> None:
        """Replace the suggestions of a book at once."""
        value = {"generation": book.generation, "suggestions": [asdict(one) for one in suggestions]}
        path = self._folder.root / book.book_id / _NAME
        replace_file(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def _read(path: Path, *_seen: int) -> tuple[str, tuple[Suggestion, ...]]:
    try:
        value = json.loads(path.read_text("utf-8"))
        return str(value["generation"]), tuple(Suggestion(**one) for one in value["suggestions"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.warning("%s is damaged, so nothing is suggested: %s", path, error)
        return "", ()
