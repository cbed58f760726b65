import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The files of a wheel built as a user's installer would build it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return frozenset(wheel.namelist())


def test_the_wheel_carries_the_models_and_their_cards(names: frozenset[str]) -> None:
    wanted = {
        "embedder/model.onnx",
        "embedder/tokenizer.json",
        "embedder/README.md",
        "judge/README.md",
    }
    assert {f"bythebook/models/{name}" for name in wanted} <= names


def test_the_wheel_carries_the_whole_sample_book(names: frozenset[str]) -> None:
    book = ROOT / "examples" / "book"
    pages = {path.relative_to(book).as_posix() for path in book.rglob("*") if path.is_file()}
    assert {f"bythebook/examples/book/{page}" for page in pages} <= names


def test_the_wheel_carries_pages_and_types_and_nothing_of_the_tests(names: frozenset[str]) -> None:
    pages = (
        f"web/{name}"
        for name in "reader.css reader.js widget.js admin.css admin.js icon.svg".split()
    )
    source = ROOT / "src" / "bythebook"
    templates = [path.relative_to(source).as_posix() for path in source.rglob("*.html")]
    assert "http/pages/templates/frame.html" in templates
    data = (*pages, *templates, "http/contracts/examples.json", "py.typed")
    assert {f"bythebook/{name}" for name in data} <= names
    assert not [name for name in names if name.startswith(("tests/", "evals/", "training/"))]
