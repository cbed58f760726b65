"""The collections that this data folder created on the server; it may remove only these."""

from collections.abc import Iterable
from pathlib import Path

from bythebook.adapters.library.generation_files import replace_file


class OwnedCollections:
    """A list per book, written before a collection is created, so that a killed run leaves a trace."""

    def __init__(self, data_dir: Path) -> None:
        self._root = data_dir / "qdrant"

    def names(self, book_id: str) -> frozenset[str]:
        """Return the existing collections of a book."""
        try:
            return frozenset(self._file(book_id).read_text("ascii").split())
        except FileNotFoundError:
            return frozenset()

    def add(self, book_id: str, name: str) -> None:
        """Add a collection that is about to be created; durable on return."""
        self._write(book_id, {*self.names(book_id), name})

    def forget(self, book_id: str, name: str) -> None:
        """Remove a deleted collection from the list."""
        self._write(book_id, self.names(book_id) - {name})

    def _write(self, book_id: str, names: Iterable[str]) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        if lines := "\n".join(sorted(names)):
            replace_file(self._file(book_id), lines)
        else:
            self._file(book_id).unlink(missing_ok=True)

    def _file(self, book_id: str) -> Path:
        return self._root / f"{book_id}.txt"
