"""Reads BibTeX files, and writes citations and the list of references as words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.errors import UnreadableBook

_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^\s,{}]+)\s*,")
_FIELD = re.compile(r"\s*,?\s*([\w-]+)\s*=\s*")
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328",
    "r": "\u030a",
}  # fmt: skip
_ACCENT = re.compile(r"\\(['`^\"~=.]|[cvuHkr](?![A-Za-z]))\s*\{?\\?([A-Za-z])\}?")
_LETTERS = {
    "ss": "ß",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "ae": "æ",
    "aa": "å",
    "i": "i",
    "&": "&",
}
_COMMAND = re.compile(r"\\(ss|aa|ae|[oOlLi&])(?![A-Za-z])\s?")
_MAX_ENTRIES = 50_000


@dataclass(frozen=True, slots=True)
class Reference:
    """A work that a book cites."""

    authors: tuple[str, ...]
    year: str
    title: str
    venue: str = ""

    @property
    def names(self) -> str:
        """The last names of the authors, at most two."""
        lasts = [_find_last_name(author) for author in self.authors]
        if len(lasts) > 2:
            return f"{lasts[0]} et al."
        return " and ".join(lasts) or self.title

    def write_entry(self) -> str:
        """Write the work as an entry of the list of references."""
        head = f"{', '.join(self.authors)} ({self.year})" if self.year else ", ".join(self.authors)
        parts = (head, self.title, self.venue)
        return " ".join(f"{part.rstrip('.')}." for part in parts if part)


def cite(references: Mapping[str, Reference], keys: str, *, textual: bool) -> str:
    """Write a citation: Name (2020) in the text, otherwise (Name, 2020)."""
    found = []
    for key in (part.strip() for part in keys.split(",")):
        work = references.get(key)
        if work is None:
            found.append(key)
        elif textual:
            found.append(f"{work.names} ({work.year})" if work.year else work.names)
        else:
            found.append(f"{work.names}, {work.year}" if work.year else work.names)
    words = "; ".join(found)
    return words if textual else f"({words})"


def parse_bibtex(text: str) -> dict[str, Reference]:
    """Read the entries of a BibTeX file; what is malformed is left out."""
    found: dict[str, Reference] = {}
    for entry in _ENTRY.finditer(text):
        if entry.group(1).lower() in {"comment", "string", "preamble"}:
            continue
        fields = dict(_iterate_fields(text, entry.end()))
        authors = fields.get("author") or fields.get("editor") or ""
        venues = ("journal", "journaltitle", "booktitle", "publisher", "school", "institution")
        found[entry.group(2)] = Reference(
            tuple(_write_name(name) for name in re.split(r"\s+and\s+", authors) if name.strip()),
            fields.get("year") or fields.get("date", "")[:4],
            fields.get("title", ""),
            next((fields[name] for name in venues if fields.get(name)), ""),
        )
        if len(found) >= _MAX_ENTRIES:
            break
    return found


def _iterate_fields(text: str, at: int) -> Iterator[tuple[str, str]]:
    while named := _FIELD.match(text, at):
        end = _find_value_end(text, named.end())
        yield named.group(1).lower(), _clean(text[named.end() : end])
        at = end


def _find_value_end(text: str, start: int) -> int:
    """Return where a value ends: at its closing brace or quote, or at the next comma."""
    opening = text[start : start + 1]
    if opening == '"':
        end = text.find('"', start + 1)
        return end + 1 if end >= 0 else len(text)
    if opening != "{":
        found = re.compile(r"[,}\n]").search(text, start)
        return found.start() if found else len(text)
    depth = 0
    for mark in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if mark.group() == "{" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def _clean(value: str) -> str:
    """Return a value as words: accents as letters, no braces."""
    value = _ACCENT.sub(
        lambda found: unicodedata.normalize("NFC", found.group(2) + _ACCENTS[found.group(1)]), value
    )
    value = _COMMAND.sub(lambda found: _LETTERS[found.group(1)], value)
    value = re.sub(r"\\[A-Za-z]+\s?", "", value)
    return " ".join(re.sub(r'[{}"\\]', "", value).replace("~", " ").replace("--", "–").split())


def _write_name(name: str) -> str:
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma else name.strip()


def _find_last_name(name: str) -> str:
    return name.split()[-1] if name.split() else name


def list_cited(references: Mapping[str, Reference], bodies: Iterable[str]) -> list[Reference]:
    """List the works that pages cite, by author and year."""
    keys = {key for body in bodies for key in re.findall(r"[^\s`,;@\[\]{}()]+", body)}
    cited = [work for key, work in references.items() if key in keys]
    return sorted(cited, key=lambda work: (work.names.casefold(), work.year))


def load_references(tree: Tree) -> Mapping[str, Reference]:
    """Read the works of all BibTeX files of a folder."""
    found: dict[str, Reference] = {}
    for name in sorted(name for name in tree.files if name.endswith(".bib")):
        try:
            found.update(parse_bibtex(load_text(tree.root / name)))
        except UnreadableBook:
            continue
    return found
