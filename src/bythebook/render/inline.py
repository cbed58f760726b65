"""A range of text with marks inside lines -> HTML."""

from collections.abc import Sequence
from html import escape

from bythebook.domain.marks import (
    CodeLines,
    Formula,
    LinkMark,
    Mark,
    NoteReference,
    Picture,
    Style,
    StyleKind,
)
from bythebook.render.code import Word
from bythebook.render.mathml import clean_mathml
from bythebook.render.places import QUOTE, Addresses, Highlight

_TAGS: dict[StyleKind, str] = {
    "emphasis": "em", "strong": "strong", "deleted": "del", "code": "code", "subscript": "sub",
    "superscript": "sup", "keyboard": "kbd",
}  # fmt: skip
_SAFE_SCHEMES = ("http://", "https://", "mailto:")
_OUTWARD = 'rel="external noopener noreferrer nofollow"'


class InlineRenderer:
    """Writes ranges of one document, from start to end; the first part that is highlighted has an id."""

    def __init__(
        self,
        text: str,
        addresses: Addresses,
        highlights: Sequence[Highlight] = (),
        *,
        has_ids: bool = True,
    ) -> None:
        self._text = text
        self._addresses = addresses
        self._highlights = highlights
        self._next_id = f' id="{QUOTE}"' if has_ids else ""
        self._has_ids = has_ids

    def write(self, start: int, end: int, marks: Sequence[Mark]) -> str:
        """Write a range; marks are sorted by start, outer ones first."""
        parts: list[str] = []
        at, number = start, 0
        while number < len(marks):
            mark = marks[number]
            number += 1
            first, last = max(mark.start, at), min(mark.end, end)
            if first > last or (first == last and not isinstance(mark, Picture)):
                continue
            parts.append(self._write_text(at, first))
            inner = number
            while inner < len(marks) and marks[inner].start < last:
                inner += 1
            parts.append(self._write_mark(mark, first, last, marks[number:inner]))
            at, number = last, inner
        parts.append(self._write_text(at, end))
        return "".join(parts)

    def _write_text(self, start: int, end: int) -> str:
        """Write plain text, with what is highlighted of it."""
        parts: list[str] = []
        for lit in self._highlights:
            begin, stop = max(start, lit.start), min(end, lit.end)
            if begin < stop:
                parts.append(escape(self._text[start:begin], quote=False))
                parts.append(self._mark(escape(self._text[begin:stop], quote=False)))
                start = stop
        parts.append(escape(self._text[start:end], quote=False))
        return "".join(parts)

    def _mark(self, html: str) -> str:
        first, self._next_id = self._next_id, ""
        return f"<mark{first}>{html}</mark>"

    def _write_mark(self, mark: Mark, start: int, end: int, inner: Sequence[Mark]) -> str:
        match mark:
            case Formula():
                return self._write_formula(mark, start, end)
            case Picture():
                return self._replace(self.write_picture(mark), start, end)
        html = self.write(start, end, inner)
        match mark:
            case Word():
                return f'<span class="{mark.name}">{html}</span>'
            case CodeLines():
                return f'<span class="hll">{html}</span>'
            case Style() if tag := _TAGS.get(mark.kind):
                return f"<{tag}>{html}</{tag}>"
            case LinkMark():
                return self._write_link(mark, html)
            case NoteReference():
                return self._write_reference(mark, html)
        return html

    def _write_link(self, link: LinkMark, html: str) -> str:
        if link.document_id:
            address = self._addresses.page(link.document_id, link.anchor)
            return f'<a href="{escape(address)}">{html}</a>'
        if link.url.lower().startswith(_SAFE_SCHEMES):
            return f'<a href="{escape(link.url)}" {_OUTWARD}>{html}</a>'
        return html

    def _write_reference(self, note: NoteReference, html: str) -> str:
        label = escape(note.label)
        if not self._has_ids:
            return f'<sup class="noteref">{html}</sup>'
        return f'<sup class="noteref"><a href="#_note-{label}" role="doc-noteref">{html}</a></sup>'

    def _write_formula(self, formula: Formula, start: int, end: int) -> str:
        source = self._text[formula.start : formula.end]
        is_whole = (start, end) == (formula.start, formula.end)
        mathml = clean_mathml(formula.mathml, source, display=formula.display) if is_whole else ""
        if not mathml:
            return f'<code class="tex">{self._write_text(start, end)}</code>'
        return self._replace(mathml, start, end)

    def write_picture(self, picture: Picture) -> str:
        """Write a picture with its alternative text."""
        words = escape(self._text[picture.start : picture.end])
        size = f' width="{picture.width}" height="{picture.height}"' if picture.width else ""
        address = escape(self._addresses.picture(picture.file))
        return f'<img src="{address}" alt="{words}"{size} loading="lazy" decoding="async">'

    def _replace(self, html: str, start: int, end: int) -> str:
        """Show HTML instead of a range, which is highlighted whole or not at all."""
        is_quoted = any(max(start, lit.start) < min(end, lit.end) for lit in self._highlights)
        return self._mark(html) if is_quoted else html
