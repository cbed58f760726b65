"""Makes the picture in the README: a reader page of the sample book with an answer: `make screenshot`."""

import sys
import tempfile
from pathlib import Path

from tests.browser.browser import chromium
from tools.attack.service import BOOK, run_command, serve_attacked

TARGET = Path(__file__).parents[1] / "docs" / "images" / "reader.png"
MOST_BYTES = 200_000
PAGE = f"/read/{BOOK}/ros2-fundamentals/nodes-and-topics"
QUESTION = "How do ROS 2 nodes communicate?"


def main() -> None:
    """Serve the sample book, ask, and take the picture."""
    with tempfile.TemporaryDirectory(prefix="bythebook-screenshot-") as name:
        folder = Path(name)
        ingested = run_command(folder, "ingest", "examples/book", "--book", BOOK)
        if ingested.returncode:
            sys.exit(ingested.stderr)
        with serve_attacked(folder) as service, chromium() as browser:
            page = browser.new_page(viewport={"width": 1240, "height": 690})
            page.goto(f"http://127.0.0.1:{service.port}{PAGE}")
            field = page.locator("bythebook-ask textarea, bythebook-ask input[type=text]").first
            field.fill(QUESTION)
            field.press("Enter")
            page.get_by_text("Clear match").first.wait_for(timeout=60_000)
            TARGET.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(TARGET))
    if TARGET.stat().st_size > MOST_BYTES:
        sys.exit(f"{TARGET} has {TARGET.stat().st_size:,} bytes, more than {MOST_BYTES:,}.")


if __name__ == "__main__":
    main()
