"""Settings files of tools that make books: where they are, and what they say."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.syntax.front_matter import load_yaml
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.errors import UnreadableBook

_MAX_DEPTH = 4  # folders above a settings file that is still the book's
_TAG = re.compile(r"(?<=[\s\[,])!{1,2}[A-Za-z][\w/.:-]*(?:[ \t]+(?=\S))?")
_TESTS = frozenset({"tests", "test", "examples", "example", "node_modules", "_build", "site"})


def find_settings(tree: Tree, *names: str) -> Path | None:
    """Find a settings file: the one nearest to the top of the folder."""
    found = [PurePosixPath(name) for name in tree.files if PurePosixPath(name).name in names]
    near = [p for p in found if len(p.parts) <= _MAX_DEPTH and not _TESTS & set(p.parts[:-1])]
    best = min(near, key=lambda path: (len(path.parts), path.as_posix()), default=None)
    return tree.root / best if best else None


def load_settings(path: Path, *, allow_list: bool = False) -> Mapping[str, object]:
    """Read a YAML file of settings, or raise UnreadableBook; a list is returned under "list"."""
    text = load_text(path)
    try:
        found = load_yaml(_TAG.sub("", text) if "!" in text else text)
    except ValueError as error:
        raise UnreadableBook(
            f"{path} is not YAML, or too large.", "Correct the file, then run ingest again."
        ) from error
    if isinstance(found, dict):
        return found
    if allow_list and isinstance(found, list):
        return {"list": found}
    if found is None:
        return {}
    raise UnreadableBook(f"{path} holds no settings.", "Write names and values in it.")
