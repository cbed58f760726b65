"""Pictures inside notebooks: the outputs that `write_cells` names by cell and place."""

import base64
import binascii
import json
import re
from functools import lru_cache
from pathlib import Path

from bythebook.adapters.readers.notebook.cells import (
    MAX_NOTEBOOK_BYTES,
    PICTURE_TYPES,
    find_cells,
    join_source,
)
from bythebook.adapters.readers.pictures.types import UnusablePicture

OUTPUT_PICTURE = re.compile(r"(.+\.ipynb)#(\d{1,6})-(\d{1,6})\.(svg|png|jpg|gif)", re.IGNORECASE)


def load_output(path: Path, cell: int, place: int, suffix: str) -> bytes:
    """Return the bytes of a picture that a cell shows, or raise UnusablePicture."""
    try:
        shown = _load_outputs(path)[cell - 1][place]
    except (IndexError, ValueError, RecursionError) as error:
        raise UnusablePicture("It is not in the notebook.") from error
    kind = next(kind for kind, name in PICTURE_TYPES.items() if name == suffix)
    text = join_source(shown.get(kind, shown.get(suffix)))
    if suffix == "svg":
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError) as error:
        raise UnusablePicture("Its data is broken.") from error


@lru_cache(maxsize=1)  # the pictures of a notebook are read one after another
def _load_outputs(path: Path) -> list[list[dict[str, object]]]:
    with path.open("rb") as file:
        notebook = json.loads(file.read(MAX_NOTEBOOK_BYTES))
    return [_list_outputs(cell) for cell in find_cells(notebook) or ()]


def _list_outputs(cell: object) -> list[dict[str, object]]:
    outputs = cell.get("outputs") if isinstance(cell, dict) else None
    found: list[dict[str, object]] = []
    for output in outputs if isinstance(outputs, list) else ():
        shown = output.get("data", output) if isinstance(output, dict) else {}
        found.append(shown if isinstance(shown, dict) else {})
    return found
