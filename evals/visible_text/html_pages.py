"""Visible text of HTML: the text between tags, without what a browser hides."""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

from evals.visible_text.words import VisibleText

Attributes = dict[str, str | None]
Selects = Callable[[str, Attributes], bool]

_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_HIDDEN = frozenset("script style template head noscript iframe datalist rp button".split())
_COMMAND = re.compile(r"\\(?:begin|end)\{\w+\}|\\[A-Za-z]+")
# Page and line numbers in the margin, and KaTeX's second copy of each formula.
_FURNITURE = frozenset({"pagebreak", "doc-pagebreak", "lnum", "katex-html"})
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data dfn em font i kbd mark q s samp small span strong sub sup "
    "time u var wbr tt big mi mn mo ruby rb".split()
)


class _TextParser(HTMLParser):
    """Collects text, and separates words at the edges of blocks, as a browser does."""

    def __init__(self, inside: Selects | None) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._inside = inside
        self._formula = 0  # where the last formula begins
        self._open: list[tuple[str, bool, bool]] = []  # name, is hidden, is inside

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag not in _INLINE:
            self.parts.append("\n")
        if tag in _VOID:
            return
        given = dict(attrs)
        if tag == "math":
            self._formula = len(self.parts)
        hidden = self._hidden or _is_hidden(tag, given)
        inside = self._is_inside or (self._inside is not None and self._inside(tag, given))
        self._open.append((tag, hidden, inside))

    def handle_startendtag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        """Handle an empty element."""
        if tag not in _INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those still open inside it."""
        if tag not in _INLINE:
            self.parts.append("\n")
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        """Keep visible text."""
        if self._hidden or (self._inside is not None and not self._is_inside):
            return
        if self._open and self._open[-1][0] == "annotation":
            # The source of a formula separates its letters better than its glyphs do.
            self.parts[self._formula :] = [_COMMAND.sub(" ", data)]
            return
        self.parts.append(data)

    @property
    def _hidden(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    @property
    def _is_inside(self) -> bool:
        return bool(self._open) and self._open[-1][2]


def extract_html_text(html: str, inside: Selects | None = None) -> str:
    """Extract the visible text; `inside` selects the elements to keep."""
    parser = _TextParser(inside)
    parser.feed(html)
    parser.close()
    return "".join(parser.parts)


def extract_site(folder: Path, inside: Selects) -> Iterator[VisibleText]:
    """Extract the visible text of each page of a folder, inside the selected elements."""
    for path in sorted(folder.rglob("*.html")):
        html = path.read_text("utf-8")
        yield VisibleText(path.relative_to(folder).as_posix(), extract_html_text(html, inside))


def _is_hidden(tag: str, given: Attributes) -> bool:
    style = (given.get("style") or "").replace(" ", "")
    kinds = f"{given.get('class') or ''} {given.get('epub:type') or ''} {given.get('role') or ''}"
    return tag in _HIDDEN or "display:none" in style or not _FURNITURE.isdisjoint(kinds.split())
