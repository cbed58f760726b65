"""Pages of a book in its author's order, each split at its headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mistune

from evals.visible_text.html_pages import extract_html_text
from evals.visible_text.words import VisibleText

_RENDER = mistune.create_markdown(
    escape=False, plugins=["table", "strikethrough", "url", "def_list"]
)
_ATX = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_DEFINITION = re.compile(r"^[ \t]*\[(?!\^)[^\]]+\]:[ \t]*\S+.*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:[-*+>][ \t]+|\d+[.)][ \t]+)*(`{3,}|~{3,})[ \t]*([^`]*)$")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\](:?)")


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page: what stands below each of its headings."""

    name: str
    chapters: frozenset[str]  # any one is right; empty if the page is its own chapter
    sections: tuple[tuple[str, str], ...]
    raw: str  # the source, where code may show any markup

    def make_visible(self) -> VisibleText:
        """Join all visible text."""
        return VisibleText(
            self.name, "\n\n".join(f"{head}\n{text}" for head, text in self.sections)
        )


def split_fences(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield runs of lines: the info of a fence with its code, or None with prose."""
    lines: list[str] = []
    fence = info = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if not fence and mark:
            yield None, "\n".join(lines)
            lines, fence, info = [], mark.group(1), mark.group(2).strip()
        elif fence and mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
            yield info, "\n".join(lines)
            lines, fence = [], ""
        else:
            lines.append(line)
    yield (info if fence else None), "\n".join(lines)


def render(prose: str, definitions: str = "") -> str:
    """Return the visible text of Markdown."""
    prose = _FOOTNOTE.sub(r" \1 ", prose)
    prose = "\n".join(line.lstrip() for line in prose.split("\n"))
    return extract_html_text(str(_RENDER(f"{prose}\n\n{definitions}"))).strip()


def split_sections(runs: Sequence[tuple[bool, str]], title: str) -> tuple[tuple[str, str], ...]:
    """Split runs of code and prose at the headings in the prose."""
    definitions = "\n".join(
        line for is_code, text in runs if not is_code for line in _DEFINITION.findall(text)
    )
    found: list[tuple[str, str]] = []
    texts: list[str] = []
    for is_code, text in runs:
        if is_code:
            texts.append(text)
            continue
        prose: list[str] = []
        for line in text.split("\n"):
            heading = _ATX.match(line)
            if heading is None:
                prose.append(line)
                continue
            texts.append(render("\n".join(prose), definitions))
            if any(part.strip() for part in texts) or found:
                found.append((title, "\n".join(texts)))
            title, texts, prose = render(f"# {heading.group(1)}", definitions), [], []
        texts.append(render("\n".join(prose), definitions))
    found.append((title, "\n".join(texts)))
    return tuple(found)


def find_heading(text: str) -> str:
    """Return the first heading of the first level outside code."""
    for info, run in split_fences(text):
        for line in run.split("\n") if info is None else ():
            if re.match(r"#[ \t]+\S", line):
                return render(line)
    return ""


def cut_front(text: str) -> tuple[str, str]:
    """Cut the front matter off a page."""
    found = re.match(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", text, re.DOTALL | re.MULTILINE)
    return (found.group(1), text[found.end() :]) if found else ("", text)
