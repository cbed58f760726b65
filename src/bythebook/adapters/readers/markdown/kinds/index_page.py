"""The order of a plain folder's pages, where an index or README page lists them."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.mdx import split_code_runs

INDEX_NAMES = ("index", "readme", "contents", "table-of-contents", "toc")
_LINK = re.compile(r"""(?<!!)\[[^\]\n]*\]\(\s*<?([^\s<>()]+)|href\s*=\s*["']([^"'\s]+)""")
_CONTENTS = re.compile(r"^\s*(?:`{3,}|~{3,})\s*(?:toc|\{?toctree\}?)\s*$")
_OPTION = re.compile(r"^\s*:[\w-]+:")
_NAMED = re.compile(r"^.*<([^<>]+)>$")


def list_in_order(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Return files in the order of the index pages; unchanged if no page lists most of them."""
    known = {file.relative.with_suffix("").as_posix(): file for file in reversed(files)}
    index = next((known[name] for name in _find_index_names(known, "")), None)
    if index is None:
        return list(files)
    listed = [index, *_follow(index, known, {index.path})]
    has_contents = any(_list_contents(file.body) for file in listed)
    if len(listed) < 2 or (2 * len(listed) < len(files) and not has_contents):
        return list(files)
    seen = {file.path for file in listed}
    return [*listed, *(file for file in files if file.path not in seen)]


def _find_index_names(known: Mapping[str, SourceFile], folder: str) -> Iterator[str]:
    names = {name.lower(): name for name in known if posixpath.dirname(name) == folder}
    for index in INDEX_NAMES:
        if found := names.get(posixpath.join(folder.lower(), index)):
            yield found


def _follow(
    page: SourceFile, known: Mapping[str, SourceFile], seen: set[object]
) -> Iterator[SourceFile]:
    """Yield the pages that a page lists, each followed by those that it lists itself."""
    waiting = [_iterate_targets(page, known)]
    while waiting:
        file = next(waiting[-1], None)
        if file is None:
            waiting.pop()
        elif file.path not in seen:
            seen.add(file.path)
            yield file
            # Links in the text of other pages say nothing about the order.
            if file.relative.stem.lower() in INDEX_NAMES or _list_contents(file.body):
                waiting.append(_iterate_targets(file, known))


def _iterate_targets(page: SourceFile, known: Mapping[str, SourceFile]) -> Iterator[SourceFile]:
    targets = _list_contents(page.body) or list(_list_links(page.body))
    folder = page.relative.parent.as_posix()
    for target in targets:
        name = posixpath.normpath(posixpath.join(folder, unquote(target.partition("#")[0])))
        bare = PurePosixPath(name).with_suffix("").as_posix() if name not in {"", "."} else ""
        found = known.get(name) or known.get(bare)
        if found is None:
            found = next((known[own] for own in _find_index_names(known, name)), None)
        if found is not None:
            yield found


def _list_contents(body: str) -> list[str]:
    """List the names in the blocks of a page that are its table of contents."""
    found: list[str] = []
    if "toc" not in body:
        return found
    for is_code, run in split_code_runs(body):
        opening, _, rest = run.partition("\n")
        if is_code and _CONTENTS.match(opening):
            for line in rest.split("\n")[:-1]:
                if line.strip() and not _OPTION.match(line):
                    named = _NAMED.match(line.strip())
                    found.append(named.group(1) if named else line.strip())
    return found


def _list_links(body: str) -> Iterator[str]:
    for is_code, run in split_code_runs(body):
        for one, other in () if is_code else _LINK.findall(run):
            if not re.match(r"[a-zA-Z][\w+.-]*:", one or other):
                yield one or other
