"""A book from Python, in this process: the notebook, the snippets of the documentation, and what goes wrong."""

import ast
import asyncio
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import SAMPLE

import bythebook
from bythebook import AsyncBook, Book
from bythebook.bootstrap import Core
from bythebook.errors import InputError, UnknownBook, UnknownDocument
from bythebook.open_book.results import Answer, Citation, FoundSection, Section, Sections

ROOT = Path(__file__).parents[3]
PAGES = ("README.md", "docs/python.md", "docs/assistants.md", "docs/api.md")
HOSTILE = "<script>alert('x')</script>"
QUOTE = Citation(HOSTILE, "d", 0, 5, HOSTILE, HOSTILE, "javascript:alert(1)", 0)


@pytest.fixture(scope="module")
def book(sample_core: Core) -> Iterator[Book]:
    with Book.open(SAMPLE, data_dir=sample_core.settings.data_dir) as book:
        yield book


def test_the_notebook_runs_and_its_results_draw_themselves(
    sample_core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BYTHEBOOK_DATA_DIR", str(sample_core.settings.data_dir))
    notebook = json.loads((ROOT / "examples" / "ask-a-book.ipynb").read_text("utf-8"))
    cells = [one for one in notebook["cells"] if one["cell_type"] == "code"]
    names: dict[str, Any] = {}
    shown = [run_cell("".join(cell["source"]), names) for cell in cells]
    assert "Physical AI" in shown[0]
    assert "three main ways" in shown[1]
    assert "low_relevance" in shown[4]
    assert shown[6].count("<mark>") == 1


def run_cell(source: str, names: dict[str, Any]) -> str:
    """Run a cell as a notebook does: the value of its last expression is shown."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if not isinstance(last, ast.Expr):
        return ""
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return str(value._repr_html_() if hasattr(value, "_repr_html_") else value)


def snippets() -> list[Any]:
    found = []
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
        found += [pytest.param(block, id=f"{page}-{n}") for n, block in enumerate(blocks)]
    return found


@pytest.mark.parametrize("snippet", snippets())
def test_every_snippet_of_the_documentation_runs(
    snippet: str,
    client: httpx.Client,
    sample_core: Core,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BYTHEBOOK_DATA_DIR", str(sample_core.settings.data_dir))
    url = str(client.base_url).rstrip("/")
    exec(compile(snippet.replace("http://127.0.0.1:8000", url), "snippet", "exec"), {})
    assert capsys.readouterr().out


def test_a_book_is_asked_searched_and_read(book: Book) -> None:
    answer = book.ask("What is URDF?")
    cited = answer.citations[0]
    around = book.read(cited)
    assert around.text[cited.char_start - around.char_start :].startswith(cited.quote)
    assert str(book.read(cited.document_id)).startswith(around.heading_path[0])
    found = book.search("URDF", limit=2)
    assert isinstance(found, Sections)
    assert len(found) == 2
    assert book.read(found[0]).title == found[0].section
    assert book.pages()[0].document_id == "index"
    assert repr(book) == "Book('physical-ai')"
    followed = book.ask("What is it used for?", after=[answer])
    assert any("URDF" in one.quote for one in followed.citations)


def test_a_selection_answers_and_stands_on_no_page(book: Book) -> None:
    selected = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
    answer = book.ask("What is the capital of Iceland?", selected_text=selected)
    assert "Reykjavik" in answer.text
    assert answer.citations[0].link == ""
    with pytest.raises(InputError, match="no page"):
        book.read(answer.citations[0])


def test_a_book_is_asked_from_several_threads_and_inside_a_loop(book: Book) -> None:
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda: answers.append(book.ask("What is URDF?"))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    async def as_in_a_notebook() -> Answer:
        return book.ask("What is URDF?")

    assert answers == [asyncio.run(as_in_a_notebook())] * 3


@pytest.mark.parametrize(
    ("question", "said"), [("", "question: "), ("x" * 501, "500 characters"), ("\0", "NUL")]
)
def test_what_cannot_be_asked_says_why(book: Book, question: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        book.ask(question)
    with pytest.raises(InputError, match="limit"):
        book.search("URDF", limit=0)
    with pytest.raises(UnknownDocument):
        book.read("no-such-page")


def test_a_source_is_published_and_a_closed_book_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "tales"
    folder.mkdir()
    (folder / "cook.md").write_text("# The cook\n\nThe cook baked bread in the old oven.\n")
    data = tmp_path / "data"
    with pytest.raises(UnknownBook):
        Book.open("tales", data_dir=data)
    with Book.open("tales", source=folder, title="Tales", data_dir=data) as book:
        assert book.title == "Tales"
        assert "old oven" in book.ask("Where did the cook bake bread?").text
    with pytest.raises(InputError, match="closed"):
        book.ask("Where did the cook bake bread?")

    async def again() -> str:
        async with await AsyncBook.open("tales", data_dir=data) as opened:
            return (await opened.search("bread"))[0].document_id

    assert asyncio.run(again()) == "cook"


@pytest.mark.parametrize(
    "result",
    [
        QUOTE,
        Answer(HOSTILE, HOSTILE, (HOSTILE,), (0,), (QUOTE,), HOSTILE),
        Answer(HOSTILE, HOSTILE, refusal_type="low_relevance"),
        Sections([FoundSection(HOSTILE, HOSTILE, HOSTILE, "d", 0, 5, "javascript:alert(1)")]),
        Section("d", HOSTILE, (HOSTILE,), 0, 27, HOSTILE, (0, 8)),
    ],
)
def test_what_is_drawn_is_escaped(result: Any) -> None:
    drawn = result._repr_html_()
    assert "<script" not in drawn
    assert "href='javascript" not in drawn
    assert "&lt;script&gt;" in drawn.replace("<mark>", "").replace("</mark>", "")


def test_the_names_of_the_package_load_only_when_used() -> None:
    assert set(bythebook.__all__) >= {"Book", "AsyncBook", "Answer", "Citation"}
    with pytest.raises(AttributeError):
        _ = bythebook.Page
