"""Measures how often a reader who clicks a citation sees exactly its quote marked, in real Chromium.

Usage: .venv/bin/python evals/marks.py [--json PATH] [--most N] [--book markdown|pdf|epub] [--theme light|dark]

Asks every answered question of the sample book's set, or a part of them, in the widget of the reader page,
over the real service, and clicks each citation of the answer: the page must have the quote at the place in
the link, mark it and nothing else, and show it in the window, not covered by anything.
"""

# ruff: noqa: E402, T201 - run as a file: it sets the module path first, and prints

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bythebook.bootstrap import Core, sample_book
from bythebook.evaluate.sets import EvalQuestion, load_questions
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

BOOK = "physical-ai"
QUESTIONS = ROOT / "evals" / "sample-book.jsonl"
_ANSWER, _LINK = ".card.answer, .card.caution", "a.numeral"
_SETTLED = """mark => document.readyState === 'complete' && document.getElementById('quote')
  && new URLSearchParams(location.search).get('mark') === mark"""
_DONE = """() => !document.querySelector('bythebook-ask').shadowRoot.querySelector('.send[aria-label=Stop]')"""
_SHOWN = """excerpt => { const copy = excerpt.cloneNode(true);
  copy.querySelectorAll('math').forEach((one) => one.replaceWith(one.getAttribute('alttext')));
  copy.querySelectorAll('.numeral').forEach((one) => one.remove());
  return copy.textContent; }"""
_SEEN = """() => {
  const quote = document.getElementById('quote');
  const box = quote.getClientRects()[0];
  const top = document.elementFromPoint(box.left + Math.min(box.width / 2, 20), box.top + box.height / 2);
  return {
    marks: [...document.querySelectorAll('mark')].map(
      (mark) => mark.querySelector('math')?.getAttribute('alttext') ?? mark.querySelector('img')?.alt
        ?? mark.textContent),
    seen: quote.contains(top),
  };
}"""


@dataclass(slots=True)
class Tally:
    """Counts of the questions and their citations."""

    asked: int = 0
    answered: int = 0
    right: int = 0  # answered, with every citation opened and marked correctly
    citations: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of answered questions whose citations are all right."""
        return self.right / self.answered if self.answered else 0.0


def measure(page: "Page", service: str, questions: Sequence[EvalQuestion]) -> Tally:
    """Ask each question in a new conversation, and follow all its citations."""
    tally = Tally()
    for number, question in enumerate(questions):
        tally.asked += 1
        begin(page, service, number)
        links = ask(page, question.question)
        if not links.count():
            continue
        tally.answered += 1
        tally.citations += links.count()
        faults = [
            fault for at in range(links.count()) if (fault := follow(page, service, links.nth(at)))
        ]
        tally.right += not faults
        tally.wrong += [f"{question.question_id} {question.question}: {one}" for one in faults]
    return tally


def begin(page: "Page", service: str, number: int) -> None:
    """Open a page of the book with an empty conversation, alternating between the start pages."""
    page.goto(f"{service}/read/{BOOK}")
    if number % 2:  # by moving to another page, not by loading the first
        page.goto(f"{service}{page.locator('.begin').get_attribute('href')}")
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.reload()
    page.locator("bythebook-ask textarea").wait_for()


def ask(page: "Page", question: str) -> "Locator":
    """Ask in the widget, wait for the whole reply, and return the links of its citations."""
    widget = page.locator("bythebook-ask")
    field = widget.locator("textarea")
    field.fill(question)
    field.press("Enter")
    turn = widget.locator(".turn").last
    turn.locator(".card:not(.looking)").wait_for()
    page.wait_for_function(_DONE)
    for excerpt in turn.locator(".excerpt").all():
        excerpt.scroll_into_view_if_needed()  # what is out of sight stays plain
        page.wait_for_function("one => one.matches('.set')", arg=excerpt.element_handle())
    return turn.locator(f":is({_ANSWER}) {_LINK}")


def follow(page: "Page", service: str, link: "Locator") -> str:
    """Click a citation, and return what is wrong with what the page shows, or an empty string."""
    address = urlsplit(str(link.get_attribute("href")))
    mark = parse_qs(address.query)["mark"][0]
    start, end, _ = mark.split("-")
    text = page.request.get(f"{service}{address.path}.txt").text()
    quote = text[int(start) : int(end)]
    shown = str(link.locator("xpath=ancestor::*[contains(@class, 'excerpt')]").evaluate(_SHOWN))
    link.click()
    page.wait_for_function(_SETTLED, arg=mark)
    seen = page.evaluate(_SEEN)
    if _normalize("".join(seen["marks"])) != _normalize(quote):
        return f"marked {seen['marks']!r} for {quote!r}"
    if _normalize(quote) not in _normalize(shown):
        return f"the answer says {shown!r}, the page {quote!r}"
    return "" if seen["seen"] else f"{quote!r} is not visible"


def _normalize(text: str) -> str:
    """Remove spaces and column marks: the page shows no text between the cells of a table."""
    return "".join(re.sub(r" \| |\|", " ", text).split())


@contextmanager
def open_chromium(theme: Literal["light", "dark"] = "light") -> Iterator["Page"]:
    """Open a page of real Chromium for a with block."""
    from playwright.sync_api import sync_playwright
    from tests.rendered.chromium import find_chromium

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=flags)
        yield browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=theme)
        browser.close()


@contextmanager
def serve_sample(kind: str = "markdown") -> Iterator[str]:
    """Serve the sample book, or what it was rendered to, for a with block."""
    from tests.conftest import free_port, serve_core

    with tempfile.TemporaryDirectory() as folder:
        given = Settings(data_dir=Path(folder), port=free_port(), limit_ip=0, limit_session=0)
        core = Core(given)
        source = _render_sample(kind, Path(folder))
        asyncio.run(ingest(IngestOrder(str(source), BOOK), core.ingest, lambda _: None))
        with serve_core(core) as server:
            yield server.url
        core.close()


def _render_sample(kind: str, folder: Path) -> Path:
    from tests.rendered.epub import render_epub
    from tests.rendered.pdf import render_pdf

    if kind == "markdown":
        return sample_book()
    return render_pdf(folder) if kind == "pdf" else render_epub(folder / "book.epub")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="also write the figures there")
    parser.add_argument(
        "--most", type=int, help="ask no more questions than this, spread over the set"
    )
    parser.add_argument("--book", choices=["markdown", "pdf", "epub"], default="markdown")
    parser.add_argument("--theme", choices=["light", "dark"], default="light")
    given = parser.parse_args()
    questions = [one for one in load_questions(QUESTIONS) if one.kind == "answered"]
    started = time.monotonic()
    step = -(-len(questions) // (given.most or len(questions)))
    with serve_sample(given.book) as service, open_chromium(given.theme) as page:
        tally = measure(page, service, questions[::step])
    figures: dict[str, object] = {
        "book": given.book,
        "theme": given.theme,
        "questions": tally.asked,
        "answered": tally.answered,
        "citations": tally.citations,
        "marked_and_seen": round(tally.share, 4),
        "seconds": round(time.monotonic() - started),
    }
    for name, value in figures.items():
        print(f"{name:16} {value}")
    for one in tally.wrong:
        print(f"wrong: {one}")
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps({**figures, "wrong": tally.wrong}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
