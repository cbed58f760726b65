"""Files that pages include: mdBook's directives, and partial pages of MDX."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bythebook.adapters.readers.markdown.files import MOST_BYTES, load_text
from bythebook.adapters.readers.markdown.front_matter import parted
from bythebook.adapters.readers.markdown.mdx import runs
from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.tree import is_inside
from bythebook.errors import UnreadableBook

Expand = Callable[[SourceFile], str]

DEEPEST = 10  # files that include each other
_NAMED = 5  # missing files that have a line of their own
_DIRECTIVE = re.compile(r"(\\?)\{\{\s*#([a-zA-Z_]+)(\s++[^{}\n]*+)?\}\}")
_ANCHOR = re.compile(r"ANCHOR(?:_END)?:\s*[\w-]+")
_PARTIAL = re.compile(
    r"""^import\s+(\w+)\s+from\s+['"]((?:\.\.?/|@site/)[^'"\n]+\.mdx?)['"];?[ \t]*$""",
    re.MULTILINE,
)


@dataclass(slots=True)
class Included:
    """What pages include: read once, only from inside the book, and what is missing."""

    root: Path
    texts: dict[Path, str | None] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # target: the page that names it first
    pages: set[str] = field(default_factory=set)  # that miss something

    def load(self, path: Path) -> str | None:
        """Give a file's text; none if it is not there, not text or not in the book."""
        if path not in self.texts:
            try:
                self.texts[path] = load_text(path) if is_inside(self.root, path) else None
            except (UnreadableBook, ValueError):
                self.texts[path] = None
        return self.texts[path]

    def miss(self, target: str, file: SourceFile) -> None:
        """Remember a target that is not there."""
        self.missing.setdefault(target, file.relative.as_posix())
        self.pages.add(file.relative.as_posix())

    def warnings(self) -> Iterator[str]:
        """Name what is missing, the first few in full."""
        named = list(self.missing.items())[:_NAMED]
        for target, page in named:
            yield f"{page} includes {target}, which is not there."
        if more := len(self.missing) - len(named):
            yield f"{more} more included files are not there; {len(self.pages)} pages miss some."


@dataclass(slots=True)
class Budget:
    """How much a page may grow by what it includes."""

    file: SourceFile
    left: int = MOST_BYTES

    def spend(self, text: str) -> str:
        """Give the text back, or refuse the page if it grew too much."""
        self.left -= len(text) + 100
        if self.left < 0:
            raise UnreadableBook(
                f"{self.file.path} includes too much.", "Look for files that include each other."
            )
        return text


def expand_directives(included: Included, file: SourceFile) -> str:
    """Put what mdBook includes into a page; nothing of a directive stays."""
    if "{{" not in file.body:
        return file.body
    return _Directives(included, file, Budget(file)).expand(file.body, (file.path,))


@dataclass(frozen=True, slots=True)
class _Directives:
    included: Included
    file: SourceFile
    budget: Budget

    def expand(self, text: str, trail: tuple[Path, ...]) -> str:
        return _DIRECTIVE.sub(lambda found: self._shown(found, trail), text)

    def _shown(self, found: re.Match[str], trail: tuple[Path, ...]) -> str:
        escape, name, rest = found.groups()
        if escape:
            return found.group().removeprefix("\\")
        argument = (rest or "").strip()
        match name:
            case "include":
                return self._file(argument, trail)
            # A compiler's reader also sees the other lines of the file; a person does not.
            case "rustdoc_include":
                return self._file(argument, trail)
            case "playground" | "playpen":
                code = self._file(argument.partition(" ")[0], trail)
                return f"```rust\n{code}\n```" if code else ""
            case _:  # {{#title ...}} is for the browser's tab
                return ""

    def _file(self, argument: str, trail: tuple[Path, ...]) -> str:
        name, _, selection = argument.partition(":")
        path = Path(trail[-1].parent, name)
        text = self.included.load(path) if name else None
        chosen = None if text is None else select_lines(text.split("\n"), selection)
        if chosen is None or path in trail or len(trail) > DEEPEST:
            self.included.miss(argument, self.file)
            return ""
        shown = self.budget.spend("\n".join(chosen).rstrip("\n"))
        return self.expand(shown, (*trail, path))


def select_lines(lines: Sequence[str], selection: str) -> Sequence[str] | None:
    """Give the lines that a selection names: 2:10, 2:, :10, 2 or an anchor; none if it is not there."""
    first, colon, last = selection.partition(":")
    if first and not first.isdecimal():
        return _anchored(lines, first)
    start = max(int(first) - 1, 0) if first else 0
    if last.isdecimal():
        return lines[start : int(last)]
    return lines[start:] if colon or not first else lines[start : start + 1]


def _anchored(lines: Sequence[str], anchor: str) -> Sequence[str] | None:
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


def expand_partials(included: Included, file: SourceFile) -> str:
    """Put partial pages where MDX shows them: <Partial /> after an import of its file."""
    if "import" not in file.body:
        return file.body
    return _partials(included, file, file.path, file.body, Budget(file), 0)


def _partials(
    included: Included, file: SourceFile, path: Path, text: str, budget: Budget, depth: int
) -> str:
    prose = "\n".join(run for is_code, run in runs(text) if not is_code)
    for name, target in _PARTIAL.findall(prose) if depth < DEEPEST else ():
        site = target.removeprefix("@site/")
        above = included.root if site != target else path.parent
        partial = Path(above, site)
        use = re.compile(rf"<{name}(?:\s[^<>]*)?(?:/>|>\s*</{name}>)")
        if use.search(prose) is None:
            continue
        body = included.load(partial)
        if body is None:
            included.miss(target, file)
            continue
        _, body = parted(body, partial)
        body = budget.spend(_partials(included, file, partial, body, budget, depth + 1))
        text = "\n".join(
            run if is_code else _used(use, run, body, budget) for is_code, run in runs(text)
        )
    return text


def _used(use: re.Pattern[str], text: str, body: str, budget: Budget) -> str:
    return use.sub(lambda _found: f"\n\n{budget.spend(body)}\n\n", text)
