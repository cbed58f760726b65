"""The built scripts are what the sources give, small enough, and typed by the service's own description."""

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import httpx
from tests.browser.browser import BUILT, ROOT, need

WIDGET = ROOT / "widget"
MOST_BYTES = 40 * 1024  # gzipped


def run_node(*command: str, **variables: str) -> None:
    """Run a command in widget/; skip, or in CI fail, where node or the packages are missing."""
    need(shutil.which("node"), "node")
    need((WIDGET / "node_modules" / "esbuild").is_dir(), "widget/node_modules (npm ci)")
    subprocess.run(
        command, cwd=WIDGET, check=True, env=os.environ | variables, stdout=subprocess.PIPE
    )


def test_what_is_committed_is_what_a_fresh_build_gives(tmp_path: Path) -> None:
    run_node("node", "build.mjs", "--out", str(tmp_path))
    fresh = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "widget.js" in fresh
    for name, content in fresh.items():
        assert (BUILT / name).read_bytes() == content, f"{name}: run `make widget`"


def test_the_sources_are_sound_by_the_strict_rules() -> None:
    run_node("node", "node_modules/typescript/bin/tsc", "--noEmit")


def test_the_types_are_those_of_the_services_description(
    client: httpx.Client, tmp_path: Path
) -> None:
    description, types = tmp_path / "openapi.json", tmp_path / "api.ts"
    description.write_text(client.get("/openapi.json").text, "utf-8")
    tool = "node_modules/openapi-typescript/bin/cli.js"
    run_node("node", tool, str(description), "-o", str(types))
    committed = (WIDGET / "src" / "api.ts").read_text("utf-8")
    assert committed == types.read_text("utf-8"), "run `npm run types` in widget/"


def test_everything_the_widget_loads_is_one_small_request() -> None:
    built = (BUILT / "widget.js").read_bytes()
    size = len(gzip.compress(built, 9))
    print(f"widget.js: {size / 1024:.1f} KB gzipped, at most {MOST_BYTES / 1024:.0f}")  # noqa: T201 - shown by -s and on failure
    assert size <= MOST_BYTES
    for loader in (
        b"import(",
        b"@import",
        b"url(",
        b"innerHTML",
        b"eval(",
        b"new Function",
    ):
        assert loader not in built


def test_no_lock_file_names_where_packages_come_from() -> None:
    lock = (WIDGET / "package-lock.json").read_text("utf-8")
    assert '"integrity"' in lock
    assert '"resolved"' not in lock
