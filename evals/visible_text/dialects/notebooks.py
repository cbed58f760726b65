"""Pages of a folder of notebooks."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from evals.visible_text.dialects.page import SourcePage, find_heading, split_fences, split_sections
from evals.visible_text.html_pages import extract_html_text

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_HIDDEN = re.compile(r"<(style|script).*?</\1>", re.DOTALL)


def list_notebook_pages(folder: Path) -> Iterator[SourcePage]:
    """List the notebooks by name."""
    for path in sorted(folder.rglob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        runs: list[tuple[bool, str]] = []
        for cell in notebook["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                prose = re.sub(r"<!--.*?-->", "", source, flags=re.DOTALL)
                runs.extend((info is not None, text) for info, text in split_fences(prose))
            elif cell["cell_type"] == "code":
                runs.append((True, source))
                runs.extend((True, _read_output(output)) for output in cell["outputs"])
        raw = "\n\n".join("".join(cell["source"]) for cell in notebook["cells"])
        prose = "\n\n".join(text for is_code, text in runs if not is_code)
        title = find_heading(prose) or path.stem
        name = path.relative_to(folder).as_posix()
        yield SourcePage(name, frozenset({title}), split_sections(runs, title), raw)


def _read_output(output: dict[str, object]) -> str:
    if "text" in output:
        return _ANSI.sub("", "".join(output["text"]))  # type: ignore[arg-type]
    if "traceback" in output:
        return _ANSI.sub("", "\n".join(output["traceback"]))  # type: ignore[arg-type]
    data = output.get("data")
    if not isinstance(data, dict):
        return ""
    html = extract_html_text(_HIDDEN.sub("", "".join(data.get("text/html", ""))))
    if html.strip():
        return html
    has_picture = any(kind.startswith("image/") for kind in data)
    return "" if has_picture else "".join(data.get("text/plain", ""))
