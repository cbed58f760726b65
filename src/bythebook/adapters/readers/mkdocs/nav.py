"""The navigation of an MkDocs site, or the order of its folders."""

from dataclasses import dataclass
from pathlib import Path

from bythebook.adapters.readers.markdown.pages import make_title, rank_naturally
from bythebook.adapters.readers.markdown.tree import Tree

_MAX_DEPTH = 30


@dataclass(frozen=True, slots=True)
class NavEntry:
    """A page in the navigation."""

    path: str
    title: str
    section: tuple[int, ...]  # numbers of the sections that it is in, from the top


def read_nav(
    nav: object,
    above: tuple[int, ...],
    entries: list[NavEntry],
    sections: dict[tuple[int, ...], str],
) -> None:
    """Add the pages and the section titles of a navigation."""
    for number, item in enumerate(nav if isinstance(nav, list) else ()):
        if len(above) > _MAX_DEPTH:
            return
        for title, below in item.items() if isinstance(item, dict) else (("", item),):
            if isinstance(below, str) and "://" not in below:
                words = title if isinstance(title, str) else ""
                entries.append(NavEntry(below.removeprefix("./"), words, above))
            elif isinstance(below, list):
                own = (*above, number)
                sections[own] = title if isinstance(title, str) else ""
                read_nav(below, own, entries, sections)


def list_by_folder(tree: Tree) -> tuple[list[NavEntry], dict[tuple[int, ...], str]]:
    """List the pages as MkDocs does without a navigation: by name, index pages first."""
    paths = [path.relative_to(tree.root) for path in tree.list_markdown()]
    folders = sorted({path.parts[0] for path in paths if len(path.parts) > 1}, key=rank_naturally)
    sections: dict[tuple[int, ...], str] = {
        (number,): make_title(name) for number, name in enumerate(folders)
    }
    entries = [
        NavEntry(
            path.as_posix(), "", (folders.index(path.parts[0]),) if len(path.parts) > 1 else ()
        )
        for path in sorted(paths, key=rank_page)
    ]
    return entries, sections


def rank_page(relative: Path) -> tuple[object, ...]:
    """Rank a page by its folders and name; index pages come first."""
    first = relative.stem.lower() not in {"index", "readme"}
    folders = tuple((1, rank_naturally(name)) for name in relative.parent.parts)
    return (*folders, (0, (first, *rank_naturally(relative.stem))))
