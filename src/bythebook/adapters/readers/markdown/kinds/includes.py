"""Inserts included files: mdBook's directives, and partial pages of MDX."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bythebook.adapters.readers.markdown.files import MAX_BYTES, load_text
from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.front_matter import split_front_matter
from bythebook.adapters.readers.markdown.syntax.mdx import split_code_runs
from bythebook.adapters.readers.source_file import is_file_inside
from bythebook.errors import UnreadableBook

Expand = Callable[[SourceFile], str]

MAX_DEPTH = 10  # nested includes
_MAX_NAMED_FILES = 5  # missing files that are reported individually
_DIRECTIVE = re.compile(r"(\\?)\{\{\s*#([a-zA-Z_]+)(\s++[^{}\n]*+)?\}\}")
_ANCHOR = re.compile(r"ANCHOR(?:_END)?:\s*[\w-]+")
_PARTIAL = re.compile(
    r"""^import\s+(\w+)\s+from\s+['"]((?:\.\.?/|@site/)[^'"\n]+\.mdx?)['"];?[ \t]*$""",
    re.MULTILINE,
)


@dataclass(slots=True)
class IncludedFiles:
    """Included files: loaded once, only from inside the book; missing ones are recorded."""

    root: Path
    texts: dict[Path, str | None] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # target -> first page that includes it
    pages: set[str] = field(default_factory=set)  # pages with a missing include

    def load(self, path: Path) -> str | None:
        """Return the text of a file; None if it is missing, not text or outside the book."""
        if path not in self.texts:
            try:
                self.texts[path] = load_text(path) if is_file_inside(path, self.root) else None
            except (UnreadableBook, ValueError):
                self.texts[path] = None
        return self.texts[path]

    def record_missing(self, target: str, file: SourceFile) -> None:
        """Record a target that does not exist."""
        self.missing.setdefault(target, file.relative.as_posix())
        self.pages.add(file.relative.as_posix())

    def list_warnings(self) -> Iterator[str]:
        """Report missing files, the first few by name."""
        named = list(self.missing.items())[:_MAX_NAMED_FILES]
        for target, page in named:
            yield f"{page} includes {target}, which does not exist."
        if more := len(self.missing) - len(named):
            yield f"{more} more included files do not exist; {len(self.pages)} pages are affected."


@dataclass(slots=True)
class IncludeBudget:
    """How much a page may grow by its includes."""

    file: SourceFile
    left: int = MAX_BYTES

    def spend(self, text: str) -> str:
        """Return the text, or refuse the page if it grew too much."""
        self.left -= len(text) + 100
        if self.left < 0:
            raise UnreadableBook(
                f"{self.file.path} includes too much.", "Look for files that include each other."
            )
        return text


def expand_directives(included: IncludedFiles, file: SourceFile) -> str:
    """Replace mdBook's directives in a page by the files they include."""
    if "{{" not in file.body:
        return file.body
    return _DirectiveExpander(included, file, IncludeBudget(file)).expand(file.body, (file.path,))


@dataclass(frozen=True, slots=True)
class _DirectiveExpander:
    included: IncludedFiles
    file: SourceFile
    budget: IncludeBudget

    def expand(self, text: str, trail: tuple[Path, ...]) -> str:
        return _DIRECTIVE.sub(lambda found: self._expand_directive(found, trail), text)

    def _expand_directive(self, found: re.Match[str], trail: tuple[Path, ...]) -> str:
        escape, name, rest = found.groups()
        if escape:
            return found.group().removeprefix("\\")
        argument = (rest or "").strip()
        match name:
            case "include":
                return self._include_file(argument, trail)
            # It also passes the rest of the file to the compiler; readers do not see that.
            case "rustdoc_include":
                return self._include_file(argument, trail)
            case "playground" | "playpen":
                code = self._include_file(argument.partition(" ")[0], trail)
                return f"```rust\n{code}\n```" if code else ""
            case _:  # {{#title ...}} is for the browser tab
                return ""

    def _include_file(self, argument: str, trail: tuple[Path, ...]) -> str:
        name, _, selection = argument.partition(":")
        path = Path(trail[-1].parent, name)
        text = self.included.load(path) if name else None
        chosen = None if text is None else select_lines(text.split("\n"), selection)
        if chosen is None or path in trail or len(trail) > MAX_DEPTH:
            self.included.record_missing(argument, self.file)
            return ""
        shown = self.budget.spend("\n".join(chosen).rstrip("\n"))
        return self.expand(shown, (*trail, path))


def select_lines(lines: Sequence[str], selection: str) -> Sequence[str] | None:
    """Return the selected lines (2:10, 2:, :10, 2 or an anchor); None if the anchor does not exist."""
    first, colon, last = selection.partition(":")
    if first and not first.isdecimal():
        return _select_anchor(lines, first)
    start = max(int(first) - 1, 0) if first else 0
    if last.isdecimal():
        return lines[start : int(last)]
    return lines[start:] if colon or not first else lines[start : start + 1]


def _select_anchor(lines: Sequence[str], anchor: str) -> Sequence[str] | None:
    opening = re.compile(rf"ANCHOR:\s*{re.escape(anchor)}(?![\w-])")
    closing = re.compile(rf"ANCHOR_END:\s*{re.escape(anchor)}(?![\w-])")
    start = next((at for at, line in enumerate(lines) if opening.search(line)), None)
    if start is None:
        return None
    chosen = []
    for line in lines[start + 1 :]:
        if closing.search(line):
            break
        if not _ANCHOR.search(line):
            chosen.append(line)
    return chosen


def expand_partials(included: IncludedFiles, file: SourceFile) -> str:
    """Insert partial pages where MDX shows them: <Partial /> after an import of its file."""
    if "import" not in file.body:
        return file.body
    return _expand_partials(included, file, file.path, file.body, IncludeBudget(file), 0)


def _expand_partials(
    included: IncludedFiles,
    file: SourceFile,
    path: Path,
    text: str,
    budget: IncludeBudget,
    depth: int,
) -> str:
    prose = "\n".join(run for is_code, run in split_code_runs(text) if not is_code)
    for name, target in _PARTIAL.findall(prose) if depth < MAX_DEPTH else ():
        site = target.removeprefix("@site/")
        above = included.root if site != target else path.parent
        partial = Path(above, site)
        use = re.compile(rf"<{name}(?:\s[^<>]*)?(?:/>|>\s*</{name}>)")
        if use.search(prose) is None:
            continue
        body = included.load(partial)
        if body is None:
            included.record_missing(target, file)
            continue
        _, body = split_front_matter(body, partial)
        body = budget.spend(_expand_partials(included, file, partial, body, budget, depth + 1))
        text = "\n".join(
            run if is_code else _insert_partial(use, run, body, budget)
            for is_code, run in split_code_runs(text)
        )
    return text


def _insert_partial(use: re.Pattern[str], text: str, body: str, budget: IncludeBudget) -> str:
    return use.sub(lambda _found: f"\n\n{budget.spend(body)}\n\n", text)
