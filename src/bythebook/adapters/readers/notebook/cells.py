"""Writes the cells of a notebook as Markdown, each apart from the next."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from bythebook.errors import UnreadableBook

CELL_END = "\x1e"  # the control character that separates records; cells are parsed one by one
MAX_NOTEBOOK_BYTES = 50_000_000  # pictures are inside
_MAX_CELLS = 10_000
_MAX_OUTPUT = 100_000  # characters of one output
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HIDDEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL | re.I)
_TAG = re.compile(r"<[^<>]*>")
_FENCE = re.compile(r"`{3,}")
PICTURE_TYPES = {
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
}


def split_cells(body: str) -> list[str]:
    """Return the cells of a notebook's body; a page that is no notebook is one cell."""
    return body.split(CELL_END)


def write_cells(text: str, name: str) -> str:
    """Write a notebook as Markdown, or raise UnreadableBook."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableBook(f"{name} is not JSON.", "Open and save it in Jupyter.") from error
    cells = find_cells(notebook)
    if cells is None:
        raise UnreadableBook(f"{name} is no notebook: it has no cells.", "Save it in Jupyter.")
    if len(cells) > _MAX_CELLS:
        raise UnreadableBook(
            f"{name} has {len(cells):,} cells, more than {_MAX_CELLS:,}.", "Split the notebook."
        )
    language = _find_language(notebook)
    parts = (
        part
        for number, cell in enumerate(cells, 1)
        if isinstance(cell, dict)
        for part in _write_cell(cell, language, f"{name}#{number}")
    )
    return CELL_END.join(part.replace(CELL_END, " ") for part in parts)


def find_cells(notebook: object) -> Sequence[object] | None:
    """Return the cells of a parsed notebook; None if it is none."""
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")  # as notebooks were before version 4
    sheet = sheets[0] if isinstance(sheets, list) and sheets else None
    cells = sheet.get("cells") if isinstance(sheet, dict) else None
    return cells if isinstance(cells, list) else None


def _find_language(notebook: Mapping[str, object]) -> str:
    metadata = notebook.get("metadata")
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(place) if isinstance(metadata, dict) else None
        name = found.get(key) if isinstance(found, dict) else None
        if isinstance(name, str) and re.fullmatch(r"[\w+#-]{1,30}", name):
            return name.lower()
    return ""


def _write_cell(cell: Mapping[str, object], language: str, name: str) -> Iterator[str]:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    hidden = set(map(str, tags)) if isinstance(tags, list) else set()
    source = join_source(cell.get("source", cell.get("input")))
    match cell.get("cell_type"):
        case _ if hidden & {"remove-cell", "remove_cell"}:
            return
        case "markdown":
            yield source
        case "heading":
            yield f"{'#' * _read_level(cell.get('level'))} {source}"
        case "code":
            if source.strip() and not hidden & {"remove-input", "remove_input"}:
                yield _write_code(source, language)
            outputs = cell.get("outputs")
            if isinstance(outputs, list) and not hidden & {"remove-output", "remove_output"}:
                for place, output in enumerate(outputs):
                    if isinstance(output, dict):
                        yield _write_output(output, f"{name}-{place}")


def _read_level(level: object) -> int:
    return min(max(level, 1), 6) if isinstance(level, int) else 1


def _write_output(output: Mapping[str, object], name: str) -> str:
    match output.get("output_type"):
        case "stream":
            return _write_code(join_source(output.get("text")))
        case "error" | "pyerr":
            return _write_code(join_source(output.get("traceback"), "\n"))
        case _:
            shown = output.get("data")
            return _write_shown(shown if isinstance(shown, dict) else output, name)


def _write_shown(shown: Mapping[str, object], name: str) -> str:
    """Write what Jupyter shows of an output that has several forms."""
    if html := _clean_html(join_source(shown.get("text/html"))):
        return html
    if markdown := join_source(shown.get("text/markdown")):
        return markdown
    for kind, suffix in PICTURE_TYPES.items():
        if kind in shown or suffix in shown:
            return f"![](<{name}.{suffix}>)"
    if latex := join_source(shown.get("text/latex")):
        return f"$$\n{latex.strip().strip('$')}\n$$"
    return _write_code(join_source(shown.get("text/plain", shown.get("text"))))


def _clean_html(html: str) -> str:
    """Return HTML as one block without scripts and styles; empty if it shows no words."""
    html = _HIDDEN.sub("", html[: 10 * _MAX_OUTPUT])
    if not re.search(r"\w", _TAG.sub("", html)):
        return ""
    lines = (line.strip() for line in html.split("\n"))
    return "<div>\n" + "\n".join(line for line in lines if line) + "\n</div>"


def _write_code(text: str, language: str = "") -> str:
    text = _ANSI.sub("", text[:_MAX_OUTPUT] if not language else text)
    if not text.strip():
        return ""
    longest = max((len(fence) for fence in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def join_source(source: object, by: str = "") -> str:
    """Return a text that a notebook may keep as a list of lines."""
    if isinstance(source, list):
        return by.join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
