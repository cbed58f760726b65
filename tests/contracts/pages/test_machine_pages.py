"""What machines read: llms.txt, Markdown, sitemaps, structured data; and that closed books are in none of it."""

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from tests.conftest import SAMPLE
from tests.contracts.access.test_access import send
from tests.contracts.fakes import READER, FakeKeys, FakeLibrary, fake_service, one_page

from bythebook.domain.books import Block, Document, Section
from bythebook.http.app import Service
from bythebook.http.pages.machines.listing import ALL, Listing
from bythebook.http.pages.machines.markdown import write_markdown
from bythebook.settings import Settings

LINK = re.compile(r"\]\((\S+)\)")
STRUCTURED = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)
BOOK_PAGES = (
    "/read/tales/llms.txt",
    "/read/tales/sitemap.xml",
    "/read/tales/opensearch.xml",
    "/read/tales/cook.md",
)


def path_of(url: str, client: httpx.Client) -> str:
    assert url.startswith(str(client.base_url).rstrip("/"))
    return url.removeprefix(str(client.base_url).rstrip("/"))


def test_every_page_is_found_from_llms_txt_as_markdown(client: httpx.Client) -> None:
    library = client.get("/llms.txt")
    assert library.headers["content-type"].startswith("text/plain")
    (book,) = [path_of(url, client) for url in LINK.findall(library.text)]
    pages = LINK.findall(client.get(book).text)
    assert len(pages) == len(places(client)) - 1
    for url in pages[:3]:
        reply = client.get(path_of(url, client))
        assert reply.headers["content-type"] == "text/markdown; charset=utf-8"
        assert reply.text.startswith("# ")
    assert client.get(f"/read/{SAMPLE}/no-such-page.md").status_code == 404


def places(client: httpx.Client) -> list[str]:
    """Follow the sitemaps to every page."""
    top = ET.fromstring(client.get("/sitemap.xml").text)
    (book,) = [one.text or "" for one in top.iter() if one.tag.endswith("}loc")]
    pages = ET.fromstring(client.get(path_of(book, client)).text)
    return [path_of(one.text or "", client) for one in pages.iter() if one.tag.endswith("}loc")]


def test_sitemaps_name_pages_that_open_and_robots_names_the_sitemap(client: httpx.Client) -> None:
    found = places(client)
    assert found[0] == f"/read/{SAMPLE}"
    assert all(client.get(place).status_code == 200 for place in found[:4])
    rules = client.get("/robots.txt").text
    (sitemap,) = re.findall(r"Sitemap: (\S+)", rules)
    assert path_of(sitemap, client) == "/sitemap.xml"


def test_a_page_names_its_canonical_address_and_what_it_is(client: httpx.Client) -> None:
    url = f"{str(client.base_url).rstrip('/')}/read/{SAMPLE}/robot-description"
    page = client.get(f"/read/{SAMPLE}/robot-description?mark=1-2-00000000").text
    assert f'<link rel="canonical" href="{url}">' in page
    assert f'type="text/markdown" href="/read/{SAMPLE}/robot-description.md"' in page
    assert "noindex" not in page
    chapter = read_structured(page)
    assert (chapter["@type"], chapter["url"]) == ("Chapter", url)
    assert chapter["isPartOf"]["@type"] == "Book"
    book = read_structured(client.get(f"/read/{SAMPLE}").text)
    assert book["@context"] == "https://schema.org"
    assert url in {part["url"] for part in book["hasPart"]}


def read_structured(page: str) -> dict[str, Any]:
    (found,) = STRUCTURED.findall(page)
    value: dict[str, Any] = json.loads(found)
    return value


def test_the_search_description_leads_to_the_books_search(client: httpx.Client) -> None:
    page = client.get(f"/read/{SAMPLE}").text
    (place,) = re.findall(r'<link rel="search"[^>]* href="([^"]+)"', page)
    described = ET.fromstring(client.get(place).text)
    (url,) = [one.attrib["template"] for one in described if one.tag.endswith("}Url")]
    reply = client.get(path_of(url.replace("{searchTerms}", "gripper"), client))
    assert "Nearest to “gripper”" in reply.text


def library_of(**pages: Document) -> FakeLibrary:
    return FakeLibrary({"tales": list(pages.values())})


def make_closed_service(listed: frozenset[str] = frozenset()) -> Service:
    keys = FakeKeys()
    keys.add()
    library = library_of(cook=one_page("cook", "The cook", "The cook\n\nThe cook baked bread."))
    return replace(fake_service(keys=keys, library=library), listing=Listing(listed))


def test_a_closed_book_is_in_none_of_them() -> None:
    service = make_closed_service()
    for path in ("/llms.txt", "/sitemap.xml", "/robots.txt"):
        reply = send(service, ("GET", path, None))
        assert reply.status_code == 200
        assert "tales" not in reply.text.lower()
    assert "Disallow: /" in send(service, ("GET", "/robots.txt", None)).text
    for path in BOOK_PAGES:
        assert send(service, ("GET", path, None)).status_code == 404
    for path in ("/read/tales", "/read/tales/cook"):
        page = send(service, ("GET", path, None)).text
        assert '<meta name="robots" content="noindex">' in page
        assert "canonical" not in page
        assert "ld+json" not in page


@pytest.mark.parametrize("listed", [frozenset({"tales"}), frozenset({ALL})])
def test_a_listed_book_is_found_though_there_are_keys(listed: frozenset[str]) -> None:
    service = make_closed_service(listed)
    assert f"{READER}/read/tales/llms.txt" in send(service, ("GET", "/llms.txt", None)).text
    statuses = [send(service, ("GET", path, None)).status_code for path in BOOK_PAGES]
    assert statuses == [200, 200, 404, 200]  # its pages cannot search without a key
    assert "ld+json" in send(service, ("GET", "/read/tales", None)).text


def test_books_are_listed_by_a_setting() -> None:
    assert Settings(public_books="a, b-c").listed_books == {"a", "b-c"}
    assert Settings(public_books="*").listed_books == {ALL}
    assert Settings().listed_books == frozenset()


def test_titles_cannot_break_out_of_what_they_stand_in() -> None:
    hostile = "</script><script>alert(1)</script> & <x>"
    library = library_of(evil=one_page("evil", hostile, f"{hostile}\n\nText."))
    service = fake_service(library=library)
    page = send(service, ("GET", "/read/tales/evil", None)).text
    assert read_structured(page)["name"] == hostile
    assert "<script>alert" not in page
    assert ET.fromstring(send(service, ("GET", "/read/tales/sitemap.xml", None)).text)


def test_a_page_of_a_book_with_a_site_has_its_canonical_address_there() -> None:
    page = one_page("cook", "The cook", "The cook\n\nThe cook baked bread.")
    library = library_of(cook=replace(page, url="https://site.example/cook"))
    service = fake_service(library=library)
    shown = send(service, ("GET", "/read/tales/cook", None)).text
    assert '<link rel="canonical" href="https://site.example/cook">' in shown
    assert "read/tales/cook" not in send(service, ("GET", "/read/tales/sitemap.xml", None)).text


def test_blocks_are_written_as_markdown() -> None:
    parts = [
        ("heading", "Cooking", {"level": 2}, "## Cooking"),
        ("paragraph", "# not a title", {}, "\\# not a title"),
        ("list", "Mix\nBake", {"ordered": True}, "1. Mix\n2. Bake"),
        ("list", "Flour\nSalt", {}, "- Flour\n- Salt"),
        ("table", "What | How\nBread | Hot", {}, "| What | How |\n| --- | --- |\n| Bread | Hot |"),
        ("code", "a = '```'", {"language": "py"}, "````py\na = '```'\n````"),
        ("formula", "x^2", {}, "```math\nx^2\n```"),
    ]
    text = "\n\n".join(part[1] for part in parts)
    blocks, at = [], 0
    for kind, words, more, _ in parts:
        blocks.append(Block(kind, at, at + len(words), **more))  # type: ignore[arg-type]
        at += len(words) + 2
    section = Section("Cooking", "", ("Cooking",), 0, len(text))
    document = Document("d", "Kitchen", "", text, tuple(blocks), (section,))
    expected = "\n\n".join(["# Kitchen", *(part[3] for part in parts)])
    assert write_markdown(document) == expected + "\n"
