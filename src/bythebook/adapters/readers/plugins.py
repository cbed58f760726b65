"""Readers that other packages add, by the entry-point group `bythebook.readers`."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook
from bythebook.ports import PluginReader

GROUP = "bythebook.readers"


@dataclass(frozen=True, slots=True)
class InstalledReaders:
    """The readers of installed packages, loaded when a source is first read."""

    entries: Sequence[EntryPoint]

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook | None:
        """Read a source by the first reader that accepts it; None if none does."""
        for entry in self.entries:
            reader = _load(entry)
            if _accepts(reader, source, entry):
                return _read(reader, source, title, base_url, entry)
        return None


def find_installed_readers() -> InstalledReaders:
    """Find the readers of installed packages, by name."""
    return InstalledReaders(sorted(entry_points(group=GROUP), key=lambda entry: entry.name))


def _load(entry: EntryPoint) -> PluginReader:
    try:
        made = entry.load()()
    except Exception as error:
        raise _make_error(entry, "cannot be loaded", error) from error
    if not isinstance(made, PluginReader):
        what = f"{type(made).__name__} has no accepts() and read()"
        raise _make_error(entry, "is not a reader", what)
    return made


def _accepts(reader: PluginReader, source: str, entry: EntryPoint) -> bool:
    try:
        return reader.accepts(source)
    except Exception as error:
        raise _make_error(entry, "failed", error) from error


def _read(
    reader: PluginReader, source: str, title: str | None, base_url: str | None, entry: EntryPoint
) -> SourceBook:
    try:
        return reader.read(source, title=title, base_url=base_url)
    except UnreadableBook:
        raise
    except Exception as error:
        raise _make_error(entry, "failed", error) from error


def _make_error(entry: EntryPoint, what: str, error: object) -> UnreadableBook:
    package = entry.dist.name if entry.dist else entry.value
    return UnreadableBook(
        f"The reader {entry.name!r} of the package {package} {what}: {error}.",
        f"Update or uninstall {package}, then run ingest again.",
    )
