"""Finds markup that a reader would see as text, on random pages."""

import random
import re
from collections.abc import Iterator, Sequence

from bythebook.domain.books import Document

_MARKUP = re.compile(
    r"""
    \{[\w:+-]+\}`                          # roles of MyST
    |:(?:numref|ref|eqref|cite\w*|label|eqlabel|doc|term|math):`
    |\{\{|\}\}|\{%|%\}|\{\*\s|\{!              # templates, shortcodes and includes
    |^:{3,}|^/{3,}\s|^!{3}\s|^\?{3}\+?\s|^===\s"  # blocks
    |--8<--|^\(\S+\)=$|^\#\|\s|\$\$
    |\(\(\(|\)\)\)|<<[\w-]|^(?:include|image|ifdef|ifndef|endif)::
    |</?(?:div|span|p|a|img|br|table|tr|td|th|details|summary|figure|iframe|script|style|font)\b[^>]*>
    |\[\]\(|\]\(\S+\)|@(?:sec|fig|tbl|eq)-\w
    """,
    re.VERBOSE | re.MULTILINE,
)
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)|<(?:code|pre)>(.*?)</(?:code|pre)>", re.DOTALL)


def find_markup(documents: Sequence[Document], raw: str, pages: int = 200) -> tuple[int, list[str]]:
    """Return how many pages were read, and each mark with the words around it."""
    chosen = random.Random(18).sample(documents, min(pages, len(documents)))  # noqa: S311
    code = _squeeze("\n".join(one or other for _, one, other in _CODE.findall(raw)))
    return len(chosen), [found for document in chosen for found in _search(document, code)]


def _search(document: Document, code: str) -> Iterator[str]:
    for block in document.blocks:
        if block.kind in {"code", "formula"}:
            continue
        text = document.text[block.start : block.end]
        for found in _MARKUP.finditer(re.sub(r"\$[^$\n]+\$", "", text)):
            # What the source shows as inline code is meant to be seen.
            if _squeeze(found.group()) not in code:
                around = text[max(found.start() - 30, 0) : found.end() + 30]
                yield f"{document.document_id}: {found.group()!r} in {around!r}"


def _squeeze(text: str) -> str:
    return "".join(text.split())
