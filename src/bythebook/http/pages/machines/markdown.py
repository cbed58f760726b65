"""A document -> Markdown, for readers that are programs."""

import re
from collections.abc import Iterator

from bythebook.domain.books import Block, Document

_CELL = " | "
_BLOCK_START = re.compile(r"^(#{1,6} |[-+*] |> |\d+[.)] |```)", re.MULTILINE)


def write_markdown(document: Document) -> str:
    """Write the blocks of a document in their order."""
    pieces = list(_pieces(document))
    opens = document.blocks[:1]
    if not (opens and opens[0].kind == "heading" and opens[0].level <= 1):
        pieces.insert(0, f"# {document.title}")
    return "\n\n".join(pieces) + "\n"


def _pieces(document: Document) -> Iterator[str]:
    for block in document.blocks:
        text = document.text[block.start : block.end].strip("\n")
        if text:
            yield _write(block, text)


def _write(block: Block, text: str) -> str:
    match block.kind:
        case "heading":
            return f"{'#' * max(1, min(block.level, 6))} {' '.join(text.split())}"
        case "list":
            marks = (f"{n}." if block.ordered else "-" for n in range(1, text.count("\n") + 2))
            return "\n".join(
                f"{mark} {line}" for mark, line in zip(marks, text.split("\n"), strict=True)
            )
        case "table":
            return _write_table(text.split("\n"))
        case "code" | "formula":
            return _fence(text, block.language if block.kind == "code" else "math")
        case _:
            return _BLOCK_START.sub(r"\\\1", text)  # words that would begin a list or a heading


def _write_table(rows: list[str]) -> str:
    rule = "| " + _CELL.join(["---"] * len(rows[0].split(_CELL))) + " |"
    head, *body = (f"| {row} |" for row in rows)
    return "\n".join((head, rule, *body))


def _fence(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
