"""Readers of other packages, found by their entry points."""

import sys
from pathlib import Path

import pytest

from bythebook.adapters.readers.any_book import AnyBookReader
from bythebook.adapters.readers.plugins import find_installed_readers
from bythebook.errors import UnreadableBook

DOCS = Path(__file__).parents[3] / "docs" / "readers.md"


def install(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay a distribution out as pip would, and put it on the path."""
    info = folder / "bythebook_lyrics-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bythebook-lyrics\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[bythebook.readers]\nlyrics = lyrics:LyricsReader\n")
    (folder / "lyrics.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "lyrics", raising=False)


def test_the_reader_in_the_docs_reads_its_own_kind_of_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = DOCS.read_text("utf-8").split("```python\n")[1].split("```")[0]
    install(tmp_path / "site", code, monkeypatch)
    song = tmp_path / "song.lyrics"
    song.write_text("# Heron song\n\nStand still.\n\nWait for the fish.\n", "utf-8")
    reader = AnyBookReader({}, find_installed_readers())
    book = reader.read(str(song), title=None, base_url=None)
    page = book.documents[0].read()
    assert (book.title, book.reader) == ("Heron song", "Lyrics")
    assert page.text == "Heron song\n\nStand still.\n\nWait for the fish."
    with pytest.raises(UnreadableBook, match="nothing at"):
        reader.read(str(tmp_path / "other.txt"), title=None, base_url=None)


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import missing_module", "cannot be loaded"),
        ("class LyricsReader: pass", "is not a reader"),
        (
            "class LyricsReader:\n def accepts(self, s): raise OSError('x')\n def read(self): pass",
            "failed: x",
        ),
    ],
)
def test_a_broken_reader_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, what: str
) -> None:
    install(tmp_path, code, monkeypatch)
    with pytest.raises(UnreadableBook, match=what) as caught:
        find_installed_readers().read("song.lyrics", title=None, base_url=None)
    assert "bythebook-lyrics" in str(caught.value)
