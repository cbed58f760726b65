"""Makes a very long book: the pages of real ones repeated, numbered so that texts differ."""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path


def make_long_book(pages: Sequence[str], characters: int, folder: Path) -> int:
    """Write pages until there is enough text, and return its length."""
    written = 0
    for copy in count(1):
        for place, page in enumerate(pages):
            # No two copies of a paragraph are equal: duplicates are indexed once.
            text = re.sub(r"(\w)(?=[.:]?\n)", rf"\1 ({copy})", page)
            text = f"# Page {place} of copy {copy}\n\n{text}"
            (folder / f"{copy:03}-{place:05}.md").write_text(text, "utf-8")
            written += len(text)
            if written >= characters:
                return written
    return written


def main() -> None:
    """Read the pages, write the book."""
    parser = argparse.ArgumentParser()
    parser.add_argument("books", type=Path, help="folder of Markdown")
    parser.add_argument("folder", type=Path, help="where to write")
    parser.add_argument("characters", type=int)
    given = parser.parse_args()
    pages = [path.read_text("utf-8", "replace") for path in sorted(given.books.rglob("*.md"))]
    if not any(pages):
        sys.exit(f"There is no Markdown in {given.books}.")
    written = make_long_book(pages, given.characters, given.folder)
    print(json.dumps({"markdown_characters": written}))


if __name__ == "__main__":
    main()
