"""Divides the main file of an AsciiDoc book into its chapters."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bythebook.adapters.readers.asciidoc.blocks import DELIMITER, HEADING
from bythebook.adapters.readers.asciidoc.labels import clean_title
from bythebook.adapters.readers.asciidoc.preprocess import ATTRIBUTE, INCLUDE
from bythebook.adapters.readers.markdown.pages import SourceFile


def divide_book(file: SourceFile) -> Iterator[SourceFile]:
    """Yield each chapter as a page of its own, with the attributes that are set before it."""
    seen: dict[str, int] = {}
    settings: list[str] = []
    for number, lines in enumerate(_split_chapters(file.body.split("\n"))):
        heading = next((found for line in lines if (found := HEADING.match(line))), None)
        if number == 0:
            lines = drop_author_lines(lines)
        has_text = any(_is_text(line) for line in lines if not HEADING.match(line))
        given = [line for line in lines if ATTRIBUTE.match(line)]
        if has_text or (number and heading):
            title = clean_title(heading.group(2)) if heading else ""
            own = next(
                (m.group(1) for line in lines[:5] if (m := re.match(r"^\[\[([\w:.-]+)", line))), ""
            )
            name = re.sub(r"[^\w.-]+", "-", own or title.lower()).strip("-.") or f"part-{number}"
            seen[name] = seen.get(name, 0) + 1
            name = name if seen[name] == 1 else f"{name}-{seen[name]}"
            relative = file.relative.with_suffix("") / f"{name}.adoc"
            body = "\n".join((*settings, "", *lines))
            yield replace(file, path=file.path / f"{name}.adoc", relative=relative, body=body)
        settings.extend(line for line in given if not line.startswith(":leveloffset:"))


def _is_text(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("//", ":", "[", "'''", "<<<", "toc::"))


def _split_chapters(lines: Sequence[str]) -> Iterator[list[str]]:
    """Split the lines of a book at the headings of its chapters and parts."""
    chapter: list[str] = []
    closing = ""
    offset = 0
    started = False
    for line in lines:
        bare = line.rstrip()
        if closing:
            closing = "" if bare == closing else closing
        elif found := DELIMITER.match(bare):
            closing = found.group(3) or bare
        elif moved := re.match(r"^:leveloffset:[ \t]+([+-]\d+)", bare):
            offset += int(moved.group(1))
            continue  # the headings are moved here
        elif (heading := HEADING.match(bare)) and len(heading.group(1)) + offset <= 2:
            if started or len(heading.group(1)) + offset == 2:
                above = _cut_attributes_above(chapter)
                yield chapter
                chapter = above
            started = True
            line = (
                f"{'=' * (len(heading.group(1)) + offset)} {heading.group(2)}" if offset else line
            )
        elif heading and offset:
            line = f"{'=' * max(len(heading.group(1)) + offset, 1)} {heading.group(2)}"
        chapter.append(line)
    yield chapter


def _cut_attributes_above(lines: list[str]) -> list[str]:
    """Cut the lines in brackets off the end of a chapter: they belong to the next."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or re.match(r"^\[.+\]\s*$", lines[end - 1])):
        end -= 1
    above = lines[end:]
    del lines[end:]
    return above


def drop_author_lines(lines: list[str]) -> list[str]:
    """Drop the lines of author and version directly below the title of a page."""
    for at, line in enumerate(lines):
        if re.match(r"^=[ \t]+\S", line):
            end = at + 1
            while (
                end < len(lines)
                and end < at + 3
                and _is_text(lines[end])
                and not INCLUDE.match(lines[end])
            ):
                end += 1
            return [*lines[: at + 1], *lines[end:]]
        if _is_text(line):
            break
    return lines
