"""Hugo: order by weight, addresses and chapters from its sections, shortcodes replaced."""

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.front_matter import load_yaml
from bythebook.adapters.readers.markdown.includes import Included
from bythebook.adapters.readers.markdown.pages import Page, SourceFile, first_title, spoken
from bythebook.adapters.readers.markdown.shown import Site
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.adapters.readers.plain_text import github_anchor
from bythebook.errors import UnreadableBook

_CONFIGS = ("hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json")
_OLD_CONFIGS = ("config.toml", "config.yaml", "config.yml", "config.json")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,4})?", re.IGNORECASE)
_SECTION = "_index"
_FRAGMENT = re.compile(r"#([\w-]+)\)")
_TITLE = re.compile(r"^#{2,6} ++([^{}\n]++)$", re.MULTILINE)
_LAST = float("inf")
_Parents = Mapping[PurePosixPath, SourceFile]


def has_hugo_config(tree: Tree) -> bool:
    """Say whether a folder is the source of a Hugo site."""
    has_content = any(name.startswith("content/") for name in tree.files)
    return any(name in tree.files for name in _CONFIGS) or (
        has_content and any(_config_names(tree))
    )


def has_hugo_sections(tree: Tree) -> bool:
    """Say whether a folder without a config is a Hugo site's content, by its section pages."""
    return any(name == "_index.md" or name.endswith("/_index.md") for name in tree.files)


def hugo_root(tree: Tree, config: Mapping[str, object]) -> Path:
    """Find the content: in the site's language, where there is a folder for each."""
    content = tree.root / "content"
    if not any(name.startswith("content/") for name in tree.files):
        content = tree.root
    below = tree.below(content)
    pages = [PurePosixPath(name) for name in below.files if name.endswith(".md")]
    tops = {path.parts[0] for path in pages}
    languages = sorted(top for top in tops if _LANGUAGE.fullmatch(top))
    if any(len(path.parts) == 1 for path in pages) or not languages or len(languages) < len(tops):
        return content
    default = str(config.get("defaultContentLanguage", "en"))
    return content / (default if default in languages else languages[0])


def other_languages(tree: Tree, root: Path) -> Iterator[str]:
    """Warn of content in other languages: a book is read in one."""
    if root.parent.name != "content":
        return
    above = root.parent.relative_to(tree.root).as_posix()
    tops = {name.split("/")[1] for name in tree.files if name.startswith(f"{above}/")}
    others = sorted(top for top in tops - {root.name} if _LANGUAGE.fullmatch(top))
    if others:
        yield f"Only content/{root.name} was read; not the pages in {', '.join(others)}."


def hugo_config(tree: Tree) -> Mapping[str, object]:
    """Read the site's settings, if there are any that can be read."""
    for name in _config_names(tree):
        path = tree.root / name
        try:
            text = load_text(path)
            config = _PARSERS[path.suffix](text)
        except (UnreadableBook, ValueError, RecursionError):
            continue
        if isinstance(config, dict):
            return config
    return {}


_PARSERS: Mapping[str, Callable[[str], object]] = {
    ".toml": tomllib.loads,
    ".yaml": load_yaml,
    ".yml": load_yaml,
    ".json": json.loads,
}


def _config_names(tree: Tree) -> Iterator[str]:
    names = (*_CONFIGS, *_OLD_CONFIGS)
    below = (f"config/_default/{name}" for name in names)
    return (name for name in (*names, *below) if name in tree.files)


def hugo_site(tree: Tree, root: Path, config: Mapping[str, object]) -> Site:
    """Learn what the site's pages may refer to."""
    terms = {
        PurePosixPath(name).stem: tree.root / name
        for name in tree.files
        if "glossary/" in name and name.endswith(".md") and tree.root / name > root
    }
    params = config.get("params")
    return Site(root, Included(tree.root), terms, params if isinstance(params, dict) else {})


def blackfriday_anchor(title: str) -> str:
    """Make a heading's anchor as Hugo does where it is set to Blackfriday's way."""
    return "-".join(re.findall(r"[^\W_]+", title.lower()))


def hugo_anchor(config: Mapping[str, object], bodies: Iterable[str]) -> Callable[[str], str]:
    """Tell by the settings how headings get their anchors; without any, by the pages' own links."""
    setting: object = config
    for key in ("markup", "goldmark", "parser", "autoHeadingIDType"):
        setting = setting.get(key) if isinstance(setting, dict) else None
    if setting is not None or config:
        return blackfriday_anchor if setting == "blackfriday" else github_anchor
    linked: set[str] = set()
    titles: set[str] = set()
    for body in bodies:
        linked.update(_FRAGMENT.findall(body))
        titles.update(title.strip() for title in _TITLE.findall(body))
    ours = {blackfriday_anchor(title) for title in titles}
    usual = {github_anchor(title) for title in titles}
    is_ours = len(linked & (ours - usual)) > len(linked & (usual - ours))
    return blackfriday_anchor if is_ours else github_anchor


def hugo_pages(_root: Path, files: Sequence[SourceFile], base_url: str) -> list[Page]:
    """Lay the pages of a site out as its menu does."""
    sections = {file.relative.parent: file for file in files if file.relative.stem == _SECTION}
    shown = [file for file in files if _is_shown(file, sections)]
    trunk = _trunk(shown)
    pages = []
    for file in sorted(shown, key=lambda file: _rank(file, sections)):
        route = _route(file)
        url = urljoin(base_url, quote(route.lstrip("/"))) if base_url else ""
        chapter = _chapter(file, sections, trunk)
        document_id = route.strip("/") or "index"
        aliases = tuple(_aliases(file, route))
        pages.append(Page(file.path, document_id, url, chapter, route=route, aliases=aliases))
    return pages


def _is_shown(file: SourceFile, sections: _Parents) -> bool:
    """Say whether a page is on the site: drafts and pages only for others to include are not."""
    above = (sections.get(parent) for parent in file.relative.parents)
    return not any(_is_hidden(page) for page in (file, *above) if page is not None)


def _is_hidden(file: SourceFile) -> bool:
    build = file.front.get("build") or file.front.get("_build")
    never = isinstance(build, dict) and build.get("render") in {"never", False}
    return never or file.front.get("headless") is True or file.front.get("draft") is True


def _route(file: SourceFile) -> str:
    if url := file.word("url"):
        path = re.sub(r"^https?://[^/]*", "", url)
        return f"/{path.lstrip('/')}"
    folders = list(file.relative.parent.parts)
    if file.relative.stem not in {_SECTION, "index"}:
        folders.append(file.word("slug") or file.relative.stem)
    elif file.relative.stem == "index" and folders and (slug := file.word("slug")):
        folders[-1] = slug
    route = "/".join(folders).lower().replace(" ", "-")
    return f"/{route}/" if route else "/"


def _aliases(file: SourceFile, route: str) -> Iterator[str]:
    given = file.front.get("aliases")
    for alias in given if isinstance(given, list) else ():
        if isinstance(alias, str):
            yield posixpath.join(posixpath.dirname(route.rstrip("/")), alias)


def _rank(file: SourceFile, sections: _Parents) -> tuple[tuple[float, str, str], ...]:
    """Rank by weight, then title, level by level; a section's own page comes first in it."""
    ranks = []
    for depth in range(1, len(file.relative.parts)):
        folder = PurePosixPath(*file.relative.parts[:depth])
        ranks.append(_weight(sections.get(folder), folder.name))
    if file.relative.stem == "index" and len(file.relative.parts) > 1:
        ranks.pop()  # a folder that is one page stands where its page says
        return (*ranks, _weight(file, file.relative.parent.name))
    if file.relative.stem == _SECTION:
        return (*ranks, (-_LAST, "", ""))
    return (*ranks, _weight(file, file.relative.stem))


def _weight(file: SourceFile | None, name: str) -> tuple[float, str, str]:
    if file is None:
        return (_LAST, name.lower(), name)
    weight = file.front.get("weight")
    title = file.word("linkTitle") or file.word("title") or name
    has_weight = isinstance(weight, int | float) and weight != 0
    return (float(weight) if has_weight else _LAST, title.lower(), name)  # type: ignore[arg-type]


def _trunk(files: Sequence[SourceFile]) -> tuple[str, ...]:
    """Give the folder that holds all pages but the section pages on the way to it."""
    paths = [file.relative.parts for file in files]
    trunk: tuple[str, ...] = ()
    while True:
        below = [
            path
            for path in paths
            if len(path) > len(trunk) + 1 or not path[-1].startswith(_SECTION)
        ]
        steps = {path[len(trunk)] for path in below if len(path) > len(trunk) + 1}
        has_pages = any(len(path) == len(trunk) + 1 for path in below)
        if has_pages or len(steps) != 1:
            return trunk
        trunk = (*trunk, steps.pop())


def _chapter(file: SourceFile, sections: _Parents, trunk: tuple[str, ...]) -> str | None:
    folders = file.relative.parent.parts
    if len(folders) <= len(trunk):
        return None
    top = PurePosixPath(*folders[: len(trunk) + 1])
    section = sections.get(top)
    if section is None:
        return (
            None
            if file.relative.stem == "index" and file.relative.parent == top
            else spoken(top.name)
        )
    return section.word("title") or first_title(section.body) or spoken(top.name)
