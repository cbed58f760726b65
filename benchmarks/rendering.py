"""Measures how long a chapter of 5,000 words with 50 formulas takes to render.

Usage: .venv/bin/python benchmarks/rendering.py
"""

import statistics
import time

from bythebook.adapters.readers.markdown.syntax.blocks import parse_markdown
from bythebook.adapters.readers.plain_text import Place, make_document, make_github_anchor
from bythebook.render import Addresses, Highlight, render_document

RUNS = 50
PARAGRAPH = (
    "A robot *balances* when its **centre of mass** stays over its feet, as `balance()` and "
    "[the chapter](https://site.example) on walking say, and no wind blows too hard. "
) * 4
FORMULA = r"The norm $\ell_{%d} = \sqrt{\sum_{i=1}^n x_i^2}$ grows." + "\n\n"
CODE = "```python\ndef stand(robot, n=%d):\n    return robot.feet[n] + 'ready'  # go\n```\n\n"


def make_chapter() -> str:
    """Write a chapter."""
    sections = (
        f"## Part {n}\n\n{PARAGRAPH}\n\n{FORMULA % n}- one\n- **two**\n\n{CODE % n if n % 5 == 0 else ''}"
        for n in range(50)
    )
    return "# Chapter\n\n" + "".join(sections)


def main() -> None:
    """Measure and print."""
    plain = parse_markdown(make_chapter())
    document = make_document(plain, Place("c", "Chapter", "Chapter"), make_github_anchor)
    took = []
    for run in range(RUNS):
        started = time.perf_counter()
        render_document(document, Addresses("book"), Highlight(1000 + run, 1400 + run))
        took.append(1000 * (time.perf_counter() - started))
    print(f"words           {len(document.text.split()):,}")
    print(f"marks           {len(document.marks):,}")
    print(f"first           {took[0]:.1f} ms")
    print(f"p50             {statistics.median(took):.1f} ms")


if __name__ == "__main__":
    main()
