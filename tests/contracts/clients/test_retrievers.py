"""The retrievers with the real LangChain and LlamaIndex; `make retrievers` installs and tests them."""

import asyncio
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import SAMPLE, serve
from tests.contracts.fakes import FakeKeys, fake_service

from bythebook.client import Unauthorized
from bythebook.retrievers.passages import RetrievalOrder

QUESTION = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
FRAMEWORKS = {"langchain": "langchain_core", "llama_index": "llama_index.core"}


@dataclass
class Retriever:
    """Either framework's retriever, by what both give."""

    framework: str

    def ask(self, url: str, question: str, **options: Any) -> list[tuple[str, dict[str, Any]]]:
        """Retrieve by the plain and the asynchronous way, which must agree."""
        if self.framework == "langchain":
            from bythebook.retrievers.langchain import ByTheBookRetriever as LangChainRetriever

            chained = LangChainRetriever(url=url, **options)
            found = chained.invoke(question)
            assert asyncio.run(chained.ainvoke(question)) == found
            return [(one.page_content, one.metadata) for one in found]
        from bythebook.retrievers.llama_index import ByTheBookRetriever as LlamaIndexRetriever

        indexed = LlamaIndexRetriever(url, **options)
        nodes = indexed.retrieve(question)
        again = asyncio.run(indexed.aretrieve(question))
        assert [one.get_content() for one in again] == [one.get_content() for one in nodes]
        return [(one.get_content(), one.metadata) for one in nodes]


@pytest.fixture(params=FRAMEWORKS)
def retriever(request: pytest.FixtureRequest) -> Retriever:
    pytest.importorskip(FRAMEWORKS[request.param], reason="run `make retrievers`")
    return Retriever(request.param)


def test_quotes_come_with_their_exact_place_and_link(
    retriever: Retriever, client: httpx.Client
) -> None:
    found = retriever.ask(str(client.base_url), QUESTION, book=SAMPLE)
    assert found
    for text, metadata in found:
        page = client.get(f"/read/{SAMPLE}/{metadata['document_id']}.txt").text
        place = slice(metadata["char_start"], metadata["char_end"])
        assert text == metadata["quote"] == page[place]
        assert metadata["link"].startswith(f"{str(client.base_url).rstrip('/')}/read/{SAMPLE}/")
        assert metadata["verified"] is True


def test_where_the_book_does_not_say_nothing_is_retrieved(
    retriever: Retriever, client: httpx.Client
) -> None:
    assert retriever.ask(str(client.base_url), FOREIGN) == []


def test_the_nearest_sections_are_marked_as_not_verified(
    retriever: Retriever, client: httpx.Client
) -> None:
    found = retriever.ask(str(client.base_url), FOREIGN, verified=False, top_k=3)
    assert [metadata["verified"] for _, metadata in found] == [False] * 3
    assert all(metadata["link"] and metadata["section"] for _, metadata in found)


def test_a_wrong_key_is_raised(retriever: Retriever) -> None:
    keys = FakeKeys()
    keys.add()
    with serve(fake_service(keys=keys)) as server, pytest.raises(Unauthorized):
        retriever.ask(server.url, QUESTION, key="wrong")


def test_its_snippet_in_the_documentation_runs(
    retriever: Retriever, client: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(__file__).parents[3] / "docs" / "python.md").read_text("utf-8")
    blocks = re.findall(r"```py\n(.*?)```", text, re.DOTALL)
    (snippet,) = [one for one in blocks if f"retrievers.{retriever.framework} " in one]
    url = str(client.base_url).rstrip("/")
    exec(compile(snippet.replace("http://127.0.0.1:8000", url), "snippet", "exec"), {})
    assert "ROS 2 nodes communicate" in capsys.readouterr().out


# Without the frameworks


def test_each_quote_is_retrieved_once_by_both_ways(client: httpx.Client) -> None:
    retrieval = RetrievalOrder(str(client.base_url), book=SAMPLE)
    found = retrieval.get("What are the steps of the perception-action loop?")
    places = [(one.metadata["chunk_id"], one.metadata["char_start"]) for one in found]
    assert len(set(places)) == len(places) > 1
    assert asyncio.run(retrieval.aget("What are the steps of the perception-action loop?")) == found


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_without_its_framework_a_retriever_says_what_to_install(name: str) -> None:
    script = (
        f"import sys; sys.modules['{FRAMEWORKS[name].partition('.')[0]}'] = None\n"
        f"import bythebook.retrievers.{name}"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert f"pip install 'bythebook[{name.replace('_', '-')}]'" in done.stderr
