"""Visible text of reStructuredText: its pages, and the text of their references."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from evals.visible_text.rst_lines import Source, extract_lines
from evals.visible_text.words import VisibleText

_LITERAL = re.compile(r"(``.+?``)", re.DOTALL)
_ROLE = re.compile(r":([\w:+-]+):`((?:[^`\\]|\\.)+)`")
_NAMED = re.compile(r"\A(.+?)\s*(?<!\\)<([^<>]+)>\s*\Z", re.DOTALL)
_PHRASE = re.compile(r"`([^`]+?)\s*<[^<>`]+>`__?")
_SUBSTITUTION = re.compile(r"\|(\w[^|\n]*?)\|_{0,2}")
_ENUMERATOR = re.compile(r"^[ \t]*(?:\d+|[a-zA-Z])[.)][ \t]+", re.MULTILINE)
_TITLE = re.compile(r"^(\S.*)\n([=\-~^\"'#*+`:.]){3,}\s*$", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*\.\. _(`?)([^`:\n]+)\1:[ \t]*$", re.MULTILINE)
_REPLACED = re.compile(r"^\.\. \|([^|]+)\| replace:: (.+)$", re.MULTILINE)


class RstBook:
    """A folder of reStructuredText, with the titles that references show."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "source" if (folder / "source").is_dir() else folder
        self.files = {
            path: path.read_text("utf-8-sig") for path in sorted(self.root.rglob("*.rst"))
        }

    def extract_pages(self) -> Iterator[VisibleText]:
        """Extract the visible text of each page; a file whose name starts with _ is only included."""
        for path, text in self.files.items():
            if not path.name.startswith("_"):
                parts = [
                    part if raw else self._resolve_inline(part, path)
                    for raw, part in extract_lines(Source(path, self.root), text)
                ]
                yield VisibleText(path.relative_to(self.root).as_posix(), "\n".join(parts))

    def _resolve_inline(self, text: str, path: Path) -> str:
        replaced = dict(_REPLACED.findall(self.files.get(path, "")))
        parts = []
        for part in _LITERAL.split(text):
            if not part.startswith("``"):
                part = _ROLE.sub(
                    lambda match: self._resolve_role(match.group(1), match.group(2), path), part
                )
                part = _PHRASE.sub(r"\1", part)
                part = _SUBSTITUTION.sub(lambda match: replaced.get(match.group(1), ""), part)
                part = re.sub(r"\\\s?", "", _ENUMERATOR.sub("", part))
            parts.append(part)
        return "".join(parts)

    def _resolve_role(self, role: str, text: str, path: Path) -> str:
        named = _NAMED.match(text)
        if named and role not in {"kbd", "code", "math"}:
            return named.group(1)
        if role == "doc":
            base = self.root if text.startswith("/") else path.parent
            target = (base / f"{text.strip().lstrip('/')}.rst").resolve()
            return find_first_title(self.files.get(target, ""))
        if role in {"ref", "numref"}:
            return self._collect_labels().get(" ".join(text.lower().split()), "")
        return "" if role == "math" else text

    @cache  # noqa: B019 - one book in one run
    def _collect_labels(self) -> dict[str, str]:
        return {
            " ".join(match.group(2).lower().split()): find_first_title(text[match.end() :])
            for text in self.files.values()
            for match in _LABEL.finditer(text)
        }


def find_first_title(text: str) -> str:
    """Find the first section title of a text."""
    found = _TITLE.search(text)
    return found.group(1).strip() if found else ""


def extract_rst(folder: Path) -> Iterator[VisibleText]:
    """Extract the visible text of each page of a book."""
    return RstBook(folder).extract_pages()
