"""Measures how soon a reader sees nearest sections and the first verified sentence after Enter.

    make bench-widget [ARGS="--questions 30"]

Asks the sample book through the widget in Chromium, each question in a new conversation, and reads the times
from the page itself.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from statistics import quantiles

from benchmarks.service import measure_ingest, serve
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
# Records when the first link of the nearest sections and the first sentence appear in the panel.
WATCH = """question => new Promise(done => {
  const root = document.querySelector('bythebook-ask').shadowRoot;
  const field = root.querySelector('textarea');
  const turns = root.querySelectorAll('.turn').length;
  const seen = {};
  const look = () => {
    const turn = root.querySelectorAll('.turn')[turns];
    if (!turn) return;
    const now = performance.now() - start;
    if (turn.querySelector('.nearest a')) seen.sections ??= now;
    if (turn.querySelector('.body :is(.key, .context)')) seen.sentence ??= now;
    if (turn.querySelector('.card.refused, .card.failed')) seen.none ??= now;
    if ((seen.sentence || seen.none) && seen.sections) { watcher.disconnect(); done(seen); }
  };
  const watcher = new MutationObserver(look);
  watcher.observe(root, {childList: true, subtree: true, attributes: true});
  setTimeout(() => done(seen), 20000);
  field.value = question;
  const start = performance.now();
  field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true}));
})"""


def load_questions(count: int) -> list[str]:
    """Load questions that the sample book answers."""
    lines = (ROOT / "evals" / "sample-book.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["question"] for row in rows if row["kind"] == "answered"][:count]


def measure(page: Page, url: str, asked: list[str]) -> dict[str, list[float]]:
    """Ask all questions, after asking the first once to warm up the service."""
    times: dict[str, list[float]] = {"sections": [], "sentence": []}
    for place, question in enumerate([asked[0], *asked]):
        page.goto(url)
        page.evaluate("localStorage.clear()")
        page.reload()
        page.wait_for_function("() => Boolean(customElements.get('bythebook-ask'))")
        page.evaluate("document.querySelector('bythebook-ask').open()")
        seen = page.evaluate(WATCH, question)
        for name, found in times.items():
            if place and name in seen:
                found.append(seen[name])
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=30)
    given = parser.parse_args()
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        measure_ingest(Path(folder))
        with serve(Path(folder)) as (port, _, _), sync_playwright() as play:
            browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
            url = f"http://127.0.0.1:{port}/read/sample"
            times = measure(browser.new_page(), url, load_questions(given.questions))
            browser.close()
    for name, label in (("sections", "nearest sections"), ("sentence", "first sentence")):
        found = times[name]
        cuts = quantiles(found, n=20)
        print(f"{label:<17} n={len(found):<3} p50 {cuts[9]:6.0f} ms   p95 {cuts[18]:6.0f} ms")


if __name__ == "__main__":
    main()
