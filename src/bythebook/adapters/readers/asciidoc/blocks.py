"""Reads the blocks of AsciiDoc as Markdown tokens."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from bythebook.adapters.readers.asciidoc.attributes import BlockAttributes, set_attribute
from bythebook.adapters.readers.asciidoc.inline import AsciiDocInline, read_alt
from bythebook.adapters.readers.asciidoc.lists import ListItem, find_list_mark, split_items
from bythebook.adapters.readers.asciidoc.preprocess import ATTRIBUTE
from bythebook.adapters.readers.asciidoc.tables import read_table
from bythebook.adapters.readers.markdown.syntax.guard import HostilePage
from bythebook.adapters.readers.markdown.syntax.tokens import (
    demote_headings,
    make_admonition,
    make_anchor_mark,
    make_code,
    make_formula,
    make_heading,
    make_image,
    make_list,
    make_paragraph,
    make_strong,
    make_text,
)

DELIMITER = re.compile(r"^(?:(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,})|(--)|(`{3,})(\S*))$")
TABLE = re.compile(r"^([|,:!])={3,}$")
HEADING = re.compile(r"^(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_ATTRIBUTES = re.compile(r"^\[(?=[\[\w.#%,\"' ]|\])(.*)\][ \t]*$")
_TITLE = re.compile(r"^\.([^\s.].*|\.[^\s.].*)$")
_MACRO = re.compile(r"^(image|video|audio|toc|youtube|gist)::([^\[\]]*)\[(.*)\][ \t]*$")
_ADMONITION = re.compile(r"^(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(.*)$", re.DOTALL)
_CALLOUT = re.compile(
    r"[ \t]*(?:(?://|#|;;|--|%)[ \t]*)?((?:<(?:\d+|\.)>[ \t]*)+)$|[ \t]*<!--(\d+)-->$"
)
_ADMONITIONS = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})
_FORMULAS = frozenset({"stem", "latexmath", "asciimath"})
_MAX_DEPTH = 15
_MAX_LINES = 200_000


@dataclass(slots=True)
class BlockReader:
    """One page: its attributes change while it is read."""

    inline: AsciiDocInline
    attributes: dict[str, str]
    offset: int = 0  # added to the level of headings
    depth: int = field(default=0)

    def read(self, lines: Sequence[str], *, nested: bool = False) -> list[Token]:
        """Return the tokens of some lines; headings inside a block are no sections."""
        if self.depth > _MAX_DEPTH:
            raise HostilePage("Its blocks are nested too deeply.")
        if len(lines) > _MAX_LINES:
            raise HostilePage(f"It has {len(lines):,} lines.")
        self.depth += 1
        try:
            found = list(_Cursor(self, lines).iterate_blocks())
        finally:
            self.depth -= 1
        return demote_headings(found) if nested else found


class _Cursor:
    """One pass over the lines of a page or of a block."""

    def __init__(self, reader: BlockReader, lines: Sequence[str]) -> None:
        self.reader = reader
        self.inline = reader.inline
        self.lines = lines
        self.at = 0
        self.above = BlockAttributes()

    def iterate_blocks(self) -> Iterator[Token]:
        while self.at < len(self.lines):
            line = self.lines[self.at].rstrip()
            if not line:
                self.at += 1
            elif not self._read_metadata(line):
                above, self.above = self.above, BlockAttributes()
                yield from self._read_block(line, above)

    def _read_metadata(self, line: str) -> bool:
        """Read a line that shows nothing: a comment, an attribute, a title or brackets."""
        if line.startswith("//") and not line.startswith("///"):
            pass
        elif re.match(r"^/{4,}$", line):
            self._take_until(line)
            return True
        elif line.startswith(":") and (named := ATTRIBUTE.match(line)):
            self._set_attribute(named)
        elif line.startswith("[") and (found := _ATTRIBUTES.match(line)):
            self.above.add_line(found.group(1))
        elif line.startswith(".") and (found := _TITLE.match(line)) and not DELIMITER.match(line):
            self.above.title = found.group(1)
        elif line in {"'''", "<<<", "---", "***", "- - -"}:
            self.above = BlockAttributes()
        else:
            return False
        self.at += 1
        return True

    def _set_attribute(self, named: re.Match[str]) -> None:
        name, value = named.group(1), named.group(2) or ""
        while value.endswith(" \\") and self.at + 1 < len(self.lines):
            self.at += 1
            value = f"{value[:-1]}{self.lines[self.at].strip()}"
        if name == "leveloffset":
            number = re.fullmatch(r"([+-]?)(\d{1,2})", value)
            if number:
                step = int(f"{number.group(1)}{number.group(2)}")
                self.reader.offset = self.reader.offset + step if number.group(1) else step
        else:
            set_attribute(self.reader.attributes, name, value)

    def _read_block(self, line: str, above: BlockAttributes) -> list[Token]:
        anchors = [make_anchor_mark(name) for name in above.anchors]
        if found := HEADING.match(line):
            self.at += 1
            return self._read_heading(found, above)
        if (delimiter := DELIMITER.match(line)) or TABLE.match(line):
            return [*anchors, *self._read_delimited(line, delimiter, above)]
        if found := _MACRO.match(line):
            self.at += 1
            return [*anchors, *self._read_macro(found, above)]
        if find_list_mark(line):
            items, self.at = split_items(self.lines, self.at)
            title = self._write_title(above)
            return [*anchors, *title, *self._write_list(items)]
        return [*anchors, *self._read_paragraph(above)]

    def _read_heading(self, found: re.Match[str], above: BlockAttributes) -> list[Token]:
        level = max(len(found.group(1)) + self.reader.offset, 1)
        children = self.inline.read(found.group(2))
        if above.style in {"discrete", "float"}:
            return make_paragraph(make_strong(children))
        own, *others = [*above.anchors, ""][:1] + above.anchors[1:]
        marks = [make_anchor_mark(name) for name in others]
        return [*make_heading(children, min(level, 6), own), *marks]

    def _take_until(self, closing: str) -> list[str]:
        """Return the lines of a delimited block; one without an end goes to the end of its parent."""
        start = self.at + 1
        end = start
        while end < len(self.lines) and self.lines[end].rstrip() != closing:
            end += 1
        self.at = end + 1
        return list(self.lines[start:end])

    def _write_title(self, above: BlockAttributes) -> list[Token]:
        return make_paragraph(make_strong(self.inline.read(above.title))) if above.title else []

    def _read_delimited(
        self, line: str, found: re.Match[str] | None, above: BlockAttributes
    ) -> list[Token]:
        if found is None:
            inside = self._take_until(line)
            rows = read_table(
                inside,
                above,
                "," if line[0] == "," else ":" if line[0] == ":" else line[0],
                self.inline.read,
                lambda lines: self.reader.read(lines, nested=True),
            )
            return [*self._write_title(above), *rows]
        fence = found.group(3)
        inside = self._take_until(fence or line)
        mark = line[:1]
        if fence:
            return [make_code("\n".join(inside), found.group(4), above.title)]
        if mark == "+":
            return self._write_passed(inside, above)
        if above.style in {"verse"}:
            return self._write_verse(inside, above)
        if (
            mark == "."
            or above.style in {"source", "listing", "literal"}
            or line.startswith("----")
        ):
            return self._write_code(inside, above)
        return self._write_box(inside, above, mark)

    def _write_code(self, lines: Sequence[str], above: BlockAttributes) -> list[Token]:
        if above.style in _FORMULAS:
            return [make_formula("\n".join(lines))]
        language = above.get(1, "language") if above.style in {"source", ""} else ""
        if not language and above.style == "source":
            language = self.reader.attributes.get("source-language", "")
        text = "\n".join(_CALLOUT.sub(_write_callout, line) for line in lines)
        title = "".join(token.content for token in self.inline.read(above.title))
        return [make_code(text, language.strip(), title)]

    def _write_passed(self, lines: Sequence[str], above: BlockAttributes) -> list[Token]:
        text = "\n".join(lines)
        if above.style in _FORMULAS:
            return [make_formula(text)]
        return [Token("html_block", "", 0, content=text, block=True)]

    def _write_verse(self, lines: Sequence[str], above: BlockAttributes) -> list[Token]:
        inner = make_paragraph(self.inline.read(" +\n".join(lines)))
        return [*self._write_title(above), *inner, *self._write_source(above)]

    def _write_box(self, lines: Sequence[str], above: BlockAttributes, mark: str) -> list[Token]:
        inner = self.reader.read(lines, nested=True)
        if above.style in _ADMONITIONS:
            return self._write_admonition(above.style, above.title, inner)
        if mark == "_":
            return [*self._write_title(above), *inner, *self._write_source(above)]
        if above.style in {"comment"}:
            return []
        kind = "sidebar" if mark == "*" else "example"
        title = self.inline.read(above.title) if above.title else []
        return make_admonition(kind, title, inner) if title or mark != "-" else inner

    def _write_admonition(self, style: str, title: str, inner: Sequence[Token]) -> list[Token]:
        words = self.inline.read(title) if title else make_text(style.capitalize())
        return make_admonition(style.lower(), words, inner)

    def _write_source(self, above: BlockAttributes) -> list[Token]:
        """Write whom a quotation is from."""
        parts = [part for part in (above.get(1, "attribution"), above.get(2, "citetitle")) if part]
        return make_paragraph(self.inline.read(f"\u2014 {', '.join(parts)}")) if parts else []

    def _read_macro(self, found: re.Match[str], above: BlockAttributes) -> list[Token]:
        name, target, inside = found.groups()
        if name != "image":
            return []
        alt = read_alt(inside)
        image = make_paragraph([make_image(target, alt)])
        title = make_paragraph(self.inline.read(above.title)) if above.title != alt else []
        return [*image, *title]

    def _write_list(self, items: Sequence[ListItem]) -> list[Token]:
        if items[0].kind == "description":
            return self._write_descriptions(items)
        written = [self._write_item(item) for item in items]
        return make_list(written, ordered=items[0].kind in {"ordered", "callout"})

    def _write_item(self, item: ListItem) -> list[Token]:
        words = make_paragraph(self.inline.read(item.text)) if item.text.strip() else []
        return [*words, *self.reader.read(item.blocks, nested=True)]

    def _write_descriptions(self, items: Sequence[ListItem]) -> list[Token]:
        """Write terms with their descriptions as items of a list."""
        written = []
        for item in items:
            term = make_paragraph(make_strong(self.inline.read(item.term)))
            written.append([*term, *self._write_item(item)])
        return make_list(written)

    def _read_paragraph(self, above: BlockAttributes) -> list[Token]:
        lines = self._take_paragraph()
        if above.style in {"source", "listing", "literal"} or (
            lines[0][:1] in {" ", "\t"} and above.style not in {"normal", "quote", "verse"}
        ):
            return self._write_code(_dedent(lines), above)
        text = "\n".join(line.strip() for line in lines)
        if above.style in _FORMULAS:
            return [make_formula(text)]
        if above.style == "verse":
            return self._write_verse(lines, above)
        if found := _ADMONITION.match(text):
            inner = make_paragraph(self.inline.read(found.group(2)))
            return self._write_admonition(found.group(1), above.title, inner)
        words = make_paragraph(self.inline.read(text))
        if above.style in _ADMONITIONS:
            return self._write_admonition(above.style, above.title, words)
        source = self._write_source(above) if above.style == "quote" else []
        return [*self._write_title(above), *words, *source]

    def _take_paragraph(self) -> list[str]:
        """Return the lines up to a blank line, or to what starts another block."""
        lines = [self.lines[self.at].rstrip()]
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at].rstrip()
            if not line or DELIMITER.match(line) or TABLE.match(line) or _is_attributes(line):
                break
            if not line.startswith("//") or line.startswith("///"):
                lines.append(line)
            self.at += 1
        return lines


def _is_attributes(line: str) -> bool:
    return line.startswith("[") and bool(re.match(r"^\[(?:\[[\w:.-]+\]|[\w#.%][^\]]*)\]$", line))


def _write_callout(found: re.Match[str]) -> str:
    if found.group(2):
        return f" ({found.group(2)})"
    numbers = re.findall(r"<(\d+|\.)>", found.group(1))
    return "".join(f" ({number})" for number in numbers if number != ".")


def _dedent(lines: Sequence[str]) -> list[str]:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]
