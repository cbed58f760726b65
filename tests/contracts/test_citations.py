"""Permalinks of citations: they open the passage, follow it, say what became of it, and embed it elsewhere."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import httpx
import pytest
from tests.conftest import SAMPLE
from tests.contracts.fakes import READER, FakeKeys, FakeLibrary, call, fake_service, one_page

from bythebook.cite import make_citation_id
from bythebook.domain.books import DocumentText, OlderGeneration
from bythebook.http.app import Service
from bythebook.http.pages.machines.listing import Listing

QUOTE = "The cook baked <fresh> bread before the sun had come up."
TEXT = f"The cook\n\nAt dawn the mill was already turning. {QUOTE} The whole street smelled of it."


@dataclass
class KeptLibrary(FakeLibrary):
    """A library that kept a page as it was before."""

    kept: list[OlderGeneration] = field(default_factory=list)

    def older_generations(self, book_id: str) -> Sequence[str]:
        return [one.generation for one in self.kept]

    def older_text(self, book_id: str, generation: str) -> OlderGeneration | None:  # type: ignore[override]
        return next(one for one in self.kept if one.generation == generation)


def service_of(text: str, *, kept: bool = True, keys: FakeKeys | None = None) -> Service:
    page = one_page("cook", "The cook", text)
    then = OlderGeneration(
        "g0", "2026-01-02T00:00:00", frozenset({"cook"}), [DocumentText("cook", "The cook", TEXT)]
    )
    return fake_service(library=KeptLibrary({"tales": [page]}, [then] if kept else []), keys=keys)


def permalink() -> str:
    start = TEXT.index(QUOTE)
    return f"/c/{make_citation_id('tales', 'cook', TEXT, (start, start + len(QUOTE)))}"


def test_a_citation_of_an_answer_opens_at_its_quote(client: httpx.Client) -> None:
    body = {"query": "What is a node in ROS 2?", "book": SAMPLE}
    answer = client.post("/api/query", json=body).json()["answer"]
    for cited in answer["citations"]:
        reply = client.get(urlsplit(cited["permalink"]).path)
        assert reply.status_code == 302
        place = reply.headers["location"]
        assert place.startswith(
            f"/read/{SAMPLE}/{cited['document_id']}?mark={cited['char_start']}-"
        )
        page = client.get(place).text
        assert 'id="quote"' in page
        assert "since" not in "".join(re.findall(r'<p class="changed".*?</p>', page))
    selected = {"query": "What is a node?", "selected_text": "A node is one process of the graph."}
    reply = client.post("/api/query", json=selected).json()
    assert all(one["permalink"] is None for one in reply["answer"]["citations"])


def test_an_edited_passage_is_opened_with_the_words_quoted_then() -> None:
    service = service_of(TEXT.replace("fresh", "new").replace("The cook\n\n", "The cook\n\nSoon. "))
    place = call(service, "GET", permalink()).headers["location"]
    page = call(service, "GET", place).text
    assert "This passage was edited after it was cited" in page
    assert "The cook baked &lt;fresh&gt; bread" in page
    assert "from the text published on 2026-01-02" in page
    assert 'id="quote"' in page


def test_a_moved_passage_is_opened_and_it_is_said() -> None:
    service = service_of(f"The cook\n\nNothing is as it was. {QUOTE}", kept=False)
    place = call(service, "GET", permalink()).headers["location"]
    assert "the text around them has changed" in call(service, "GET", place).text


@pytest.mark.parametrize("kept", [True, False])
def test_a_removed_passage_is_said_to_be_gone(kept: bool) -> None:
    reply = call(service_of(TEXT.replace(QUOTE, ""), kept=kept), "GET", permalink())
    assert reply.status_code == 410
    assert "no longer in the book" in reply.text
    assert ("The cook baked &lt;fresh&gt; bread" in reply.text) is kept
    assert '<meta name="robots" content="noindex">' in reply.text


@pytest.mark.parametrize("given", ["tales.x", "nowhere" + permalink()[8:], "tales"])
def test_what_is_no_citation_is_not_found(given: str) -> None:
    assert call(service_of(TEXT), "GET", f"/c/{given}").status_code == 404


def oembed(service: Service, **given: str) -> httpx.Response:
    asked = {"url": f"{READER}{permalink()}", **given}
    return call(service, "GET", f"/oembed?{httpx.QueryParams(asked)}")


def test_a_citation_is_embedded_as_a_quote_that_holds_no_markup_of_the_book() -> None:
    service = service_of(TEXT)
    told = oembed(service, maxwidth="300").json()
    assert (told["type"], told["version"], told["width"]) == ("rich", "1.0", 300)
    assert "The cook baked &lt;fresh&gt; bread" in told["html"]
    assert f'href="{READER}{permalink()}"' in told["html"]
    page = call(service, "GET", call(service, "GET", permalink()).headers["location"]).text
    link = re.search(r'type="application/json\+oembed" href="([^"]+)"', page)
    assert link
    path = link[1].replace("&amp;", "&").removeprefix(READER)
    assert call(service, "GET", path).json()["html"] == told["html"]


def test_only_citations_of_books_that_machines_may_find_are_embedded() -> None:
    keys = FakeKeys()
    keys.add()
    closed = service_of(TEXT, keys=keys)
    assert oembed(closed).status_code == 404
    page = call(closed, "GET", call(closed, "GET", permalink()).headers["location"]).text
    assert "json+oembed" not in page
    assert oembed(replace(closed, listing=Listing(frozenset({"tales"})))).status_code == 200
    service = service_of(TEXT)
    assert oembed(service, format="xml").status_code == 501
    assert oembed(service, url=f"https://elsewhere.test{permalink()}").status_code == 404
    assert oembed(service_of("The cook\n\nNothing."), maxheight="9").status_code == 404
