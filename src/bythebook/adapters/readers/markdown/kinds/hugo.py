"""Hugo: order by weight, addresses and chapters from its sections, shortcodes replaced."""

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.markdown.files import load_text
from bythebook.adapters.readers.markdown.kinds.hugo_shortcodes import HugoSite
from bythebook.adapters.readers.markdown.kinds.includes import IncludedFiles
from bythebook.adapters.readers.markdown.pages import (
    MarkdownPage,
    SourceFile,
    find_first_title,
    make_title,
)
from bythebook.adapters.readers.markdown.syntax.front_matter import load_yaml
from bythebook.adapters.readers.markdown.tree import Tree
from bythebook.adapters.readers.plain_text import make_github_anchor
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
    """Return True if a folder is the source of a Hugo site."""
    has_content = any(name.startswith("content/") for name in tree.files)
    return any(name in tree.files for name in _CONFIGS) or (
        has_content and any(_find_config_names(tree))
    )


def has_hugo_sections(tree: Tree) -> bool:
    """Return True if a folder without a config is the content of a Hugo site, by its section pages."""
    return any(name == "_index.md" or name.endswith("/_index.md") for name in tree.files)


def find_content_folder(tree: Tree, config: Mapping[str, object]) -> Path:
    """Find the content folder, in the site's language if there is one for each."""
    content = tree.root / "content"
    if not any(name.startswith("content/") for name in tree.files):
        content = tree.root
    below = tree.narrow_to(content)
    pages = [PurePosixPath(name) for name in below.files if name.endswith(".md")]
    tops = {path.parts[0] for path in pages}
    languages = sorted(top for top in tops if _LANGUAGE.fullmatch(top))
    if any(len(path.parts) == 1 for path in pages) or not languages or len(languages) < len(tops):
        return content
    default = str(config.get("defaultContentLanguage", "en"))
    return content / (default if default in languages else languages[0])


def warn_of_other_languages(tree: Tree, root: Path) -> Iterator[str]:
    """Warn of content in other languages: only one language is read."""
    if root.parent.name != "content":
        return
    above = root.parent.relative_to(tree.root).as_posix()
    tops = {name.split("/")[1] for name in tree.files if name.startswith(f"{above}/")}
    others = sorted(top for top in tops - {root.name} if _LANGUAGE.fullmatch(top))
    if others:
        yield f"Only content/{root.name} was read, without the pages in {', '.join(others)}."


def read_hugo_config(tree: Tree) -> Mapping[str, object]:
    """Read the site's settings; empty if none can be read."""
    for name in _find_config_names(tree):
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


def _find_config_names(tree: Tree) -> Iterator[str]:
    names = (*_CONFIGS, *_OLD_CONFIGS)
    below = (f"config/_default/{name}" for name in names)
    return (name for name in (*names, *below) if name in tree.files)


def make_site(tree: Tree, root: Path, config: Mapping[str, object]) -> HugoSite:
    """Collect everything that the site's pages may refer to."""
    terms = {
        PurePosixPath(name).stem: tree.root / name
        for name in tree.files
        if "glossary/" in name and name.endswith(".md") and tree.root / name > root
    }
    params = config.get("params")
    return HugoSite(
        root, IncludedFiles(tree.root), terms, params if isinstance(params, dict) else {}
    )


def make_blackfriday_anchor(title: str) -> str:
    """Make a heading's anchor as Hugo does when set to Blackfriday's style."""
    return "-".join(re.findall(r"[^\W_]+", title.lower()))


def choose_anchor_maker(
    config: Mapping[str, object], bodies: Iterable[str]
) -> Callable[[str], str]:
    """Choose how headings get anchors: by the settings, otherwise by the links between pages."""
    setting: object = config
    for key in ("markup", "goldmark", "parser", "autoHeadingIDType"):
        setting = setting.get(key) if isinstance(setting, dict) else None
    if setting is not None or config:
        return make_blackfriday_anchor if setting == "blackfriday" else make_github_anchor
    linked: set[str] = set()
    titles: set[str] = set()
    for body in bodies:
        linked.update(_FRAGMENT.findall(body))
        titles.update(title.strip() for title in _TITLE.findall(body))
    ours = {make_blackfriday_anchor(title) for title in titles}
    usual = {make_github_anchor(title) for title in titles}
    is_ours = len(linked & (ours - usual)) > len(linked & (usual - ours))
    return make_blackfriday_anchor if is_ours else make_github_anchor


def list_hugo_pages(_root: Path, files: Sequence[SourceFile], base_url: str) -> list[MarkdownPage]:
    """List the pages of a site in the order of its menu."""
    sections = {file.relative.parent: file for file in files if file.relative.stem == _SECTION}
    shown = [file for file in files if _is_published(file, sections)]
    trunk = _find_trunk(shown)
    pages = []
    for file in sorted(shown, key=lambda file: _rank(file, sections)):
        route = _make_route(file)
        url = urljoin(base_url, quote(route.lstrip("/"))) if base_url else ""
        chapter = _find_chapter(file, sections, trunk)
        document_id = route.strip("/") or "index"
        aliases = tuple(_list_aliases(file, route))
        pages.append(
            MarkdownPage(file.path, document_id, url, chapter, route=route, aliases=aliases)
        )
    return pages


def _is_published(file: SourceFile, sections: _Parents) -> bool:
    """Return True if a page is on the site: drafts and include-only pages are not."""
    above = (sections.get(parent) for parent in file.relative.parents)
    return not any(_is_hidden(page) for page in (file, *above) if page is not None)


def _is_hidden(file: SourceFile) -> bool:
    build = file.front.get("build") or file.front.get("_build")
    never = isinstance(build, dict) and build.get("render") in {"never", False}
    return never or file.front.get("headless") is True or file.front.get("draft") is True


def _make_route(file: SourceFile) -> str:
    if url := file.get_text("url"):
        path = re.sub(r"^https?://[^/]*", "", url)
        return f"/{path.lstrip('/')}"
    folders = list(file.relative.parent.parts)
    if file.relative.stem not in {_SECTION, "index"}:
        folders.append(file.get_text("slug") or file.relative.stem)
    elif file.relative.stem == "index" and folders and (slug := file.get_text("slug")):
        folders[-1] = slug
    route = "/".join(folders).lower().replace(" ", "-")
    return f"/{route}/" if route else "/"


def _list_aliases(file: SourceFile, route: str) -> Iterator[str]:
    given = file.front.get("aliases")
    for alias in given if isinstance(given, list) else ():
        if isinstance(alias, str):
            yield posixpath.join(posixpath.dirname(route.rstrip("/")), alias)


def _rank(file: SourceFile, sections: _Parents) -> tuple[tuple[float, str, str], ...]:
    """Rank by weight, then title, level by level; a section's own page comes first."""
    ranks = []
    for depth in range(1, len(file.relative.parts)):
        folder = PurePosixPath(*file.relative.parts[:depth])
        ranks.append(_rank_by_weight(sections.get(folder), folder.name))
    if file.relative.stem == "index" and len(file.relative.parts) > 1:
        ranks.pop()  # a folder with a single page is ranked by that page
        return (*ranks, _rank_by_weight(file, file.relative.parent.name))
    if file.relative.stem == _SECTION:
        return (*ranks, (-_LAST, "", ""))
    return (*ranks, _rank_by_weight(file, file.relative.stem))


def _rank_by_weight(file: SourceFile | None, name: str) -> tuple[float, str, str]:
    if file is None:
        return (_LAST, name.lower(), name)
    weight = file.front.get("weight")
    title = file.get_text("linkTitle") or file.get_text("title") or name
    has_weight = isinstance(weight, int | float) and weight != 0
    return (float(weight) if has_weight else _LAST, title.lower(), name)  # type: ignore[arg-type]


def _find_trunk(files: Sequence[SourceFile]) -> tuple[str, ...]:
    """Return the folder that contains all pages except the section pages above it."""
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


def _find_chapter(file: SourceFile, sections: _Parents, trunk: tuple[str, ...]) -> str | None:
    folders = file.relative.parent.parts
    if len(folders) <= len(trunk):
        return None
    top = PurePosixPath(*folders[: len(trunk) + 1])
    section = sections.get(top)
    if section is None:
        return (
            None
            if file.relative.stem == "index" and file.relative.parent == top
            else make_title(top.name)
        )
    return section.get_text("title") or find_first_title(section.body) or make_title(top.name)
