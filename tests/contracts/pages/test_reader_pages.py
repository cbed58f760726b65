"""The book as pages: contents, turning, searching without scripts, files that browsers keep, no key."""

import gzip
import re
from html import unescape
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest
from tests.conftest import SAMPLE
from tests.contracts.fakes import (
    FakeEmbedder,
    FakeIndex,
    FakeKeys,
    FakeLibrary,
    call,
    fake_service,
    one_page,
)
from tests.unit.fakes import make_chunk

from bythebook.bootstrap import Core
from bythebook.domain.answers import Hit
from bythebook.domain.books import Document, Section
from bythebook.errors import EmbedderFailed
from bythebook.http.app import Service
from bythebook.operate.access.gate import RequestLimits

QUESTION = "How do ROS 2 nodes communicate?"
PAGE = f"/read/{SAMPLE}/ros2-fundamentals/nodes-and-topics"


def contents_of(page: str) -> str:
    """Cut the contents out of a reader page."""
    found = re.search(r'<details class="contents-fold".*?</details>', page, flags=re.DOTALL)
    assert found is not None
    return found.group()


def links(fragment: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]*)"', fragment)]


# Contents and turning pages


def test_the_contents_mark_the_page_and_list_its_sections(
    client: httpx.Client, sample_core: Core
) -> None:
    for document in sample_core.library.documents(SAMPLE):
        page = client.get(f"/read/{SAMPLE}/{quote(document.document_id)}").text
        contents = contents_of(page)
        assert contents.count('aria-current="page"') == 1
        here = re.search(r'<a href="([^"]*)" aria-current="page"', contents)
        assert here is not None
        assert here.group(1) == f"/read/{SAMPLE}/{quote(document.document_id)}"
        inside = [link[1:] for link in links(contents) if link.startswith("#")]
        assert inside == [
            section.anchor for section in document.sections[1:] if len(section.path) <= 4
        ]
        assert all(page.count(f' id="{anchor}"') == 1 for anchor in inside)


def test_the_contents_name_every_chapter_and_unfold_only_the_pages_own(
    client: httpx.Client, sample_core: Core
) -> None:
    documents = sample_core.library.documents(SAMPLE)
    own = next(one for one in documents if one.document_id.endswith("nodes-and-topics"))
    listed = links(contents_of(client.get(PAGE).text))
    chapters = dict.fromkeys(document.chapter for document in documents)
    firsts = {next(one for one in documents if one.chapter == name) for name in chapters}
    shown = {one for one in documents if one.chapter == own.chapter} | firsts
    assert {link for link in listed if link.count("/") > 2} == {
        f"/read/{SAMPLE}/{quote(one.document_id)}" for one in shown
    }


def test_the_next_page_leads_through_the_whole_book_and_the_previous_back(
    client: httpx.Client, sample_core: Core
) -> None:
    expected = [
        f"/read/{SAMPLE}/{quote(document.document_id)}"
        for document in sample_core.library.documents(SAMPLE)
    ]
    begin = re.search(r'class="begin" href="([^"]*)"', client.get(f"/read/{SAMPLE}").text)
    assert begin is not None
    for relation, start, order in (
        ("next", begin.group(1), expected),
        ("prev", expected[-1], expected[::-1]),
    ):
        walked, place = [], start
        while place:
            walked.append(place)
            step = re.search(rf'rel="{relation}" href="([^"]*)"', client.get(place).text)
            place = step.group(1) if step else ""
        assert walked == order


def test_the_trail_says_where_the_reader_is(client: httpx.Client) -> None:
    page = client.get(PAGE).text
    trail = re.search(r'<nav class="trail".*?</nav>', page, flags=re.DOTALL)
    assert trail is not None
    words = [word for word in re.split(r"<[^>]*>", trail.group()) if word.strip()]
    assert words[1:] == ["Chapter 2: ROS 2 Fundamentals", "Nodes and Topics"]
    assert links(trail.group()) == [f"/read/{SAMPLE}"]


def test_a_book_of_one_page_is_listed_by_its_sections() -> None:
    page = one_page("page", "Tales", "Tales\n\nHerons wait.")
    sections = (*page.sections, Section("Herons", "herons", ("Tales", "Herons"), 7, 19))
    library = FakeLibrary({"tales": [_with_sections(page, sections)]})
    reply = call(fake_service(library=library), "GET", "/read/tales")
    assert "/read/tales/page#herons" in links(reply.text)


def _with_sections(page: Document, sections: tuple[Section, ...]) -> Document:
    return Document(page.document_id, page.title, page.chapter, page.text, page.blocks, sections)


def test_an_empty_book_has_a_title_page() -> None:
    reply = call(fake_service(library=FakeLibrary({"tales": []})), "GET", "/read/tales")
    assert reply.status_code == 200
    assert "Begin reading" not in reply.text


# Searching without scripts


def test_a_search_leads_to_the_sentences_that_it_shows(client: httpx.Client) -> None:
    page = client.get(f"/read/{SAMPLE}", params={"q": QUESTION}).text
    rows = re.findall(r"<li dir=\"auto\">(.*?)</li>", page, flags=re.DOTALL)
    assert len(rows) == 10
    for row in rows:
        link = links(row)[0]
        text = re.search(r'<p dir="auto">(.*)</p>', row, flags=re.DOTALL)
        assert text is not None
        marks = re.findall(r"<mark[^>]*>(.*?)</mark>", client.get(link).text, flags=re.DOTALL)
        words, line = (
            re.sub(r"\W+", "", unescape(re.sub(r"<[^>]*>", "", one)))
            for one in ("".join(marks), text.group(1))
        )
        assert words
        assert line.startswith(words[:120])


def test_the_box_keeps_what_was_searched_and_searches_this_book(client: httpx.Client) -> None:
    page = client.get(f"/read/{SAMPLE}", params={"q": 'a "b" <c>'}).text
    form = re.search(r'<form class="find".*?</form>', page, flags=re.DOTALL)
    assert form is not None
    assert f'action="/read/{SAMPLE}"' in form.group()
    assert 'value="a &#34;b&#34; &lt;c&gt;"' in form.group()
    assert "<c>" not in page


def test_a_search_that_fails_says_so_on_the_page_with_its_status() -> None:
    broken = fake_service(embedder=FakeEmbedder(EmbedderFailed("secret")))
    reply = call(broken, "GET", "/read/tales?q=herons")
    assert reply.status_code == 503
    assert "Could not look it up" in reply.text
    assert "Nothing found" not in reply.text
    limited = fake_service(limits=RequestLimits(ip=1))
    assert call(limited, "GET", "/read/tales?q=herons").status_code == 200
    reply = call(limited, "GET", "/read/tales?q=herons")
    assert reply.status_code == 429
    assert "Not searched" in reply.text
    assert int(reply.headers["Retry-After"]) > 0


def test_nothing_found_is_said() -> None:
    reply = call(fake_service(), "GET", "/read/tales?q=herons")
    assert reply.status_code == 200
    assert "Nothing found for “herons”" in reply.text


# Keys


@pytest.fixture
def locked() -> tuple[Service, str]:
    """A service with a key, over a book of one page."""
    keys = FakeKeys()
    secret = keys.add()
    chunk = make_chunk("Herons wait.", book_id="tales", document_id="page")
    page = one_page("page", "Tales", "Tales\n\nHerons wait.")
    service = fake_service(
        library=FakeLibrary({"tales": [page]}),
        index=FakeIndex(hits=[Hit(chunk, 0.9, 0.9)]),
        keys=keys,
    )
    return service, secret


@pytest.mark.parametrize("path", ["/", "/read/tales", "/read/tales/page", "/docs"])
def test_where_keys_are_needed_pages_hold_none_and_offer_no_asking(
    locked: tuple[Service, str], path: str
) -> None:
    service, secret = locked
    for key in (None, secret):  # also for who has one: pages are the same for all
        reply = call(service, "GET", path, key=key)
        assert reply.status_code == 200
        assert secret not in reply.text
        assert "bythebook-ask" not in reply.text
        assert "<form" not in reply.text


def test_where_keys_are_needed_the_book_can_be_read_but_not_searched(
    locked: tuple[Service, str],
) -> None:
    service, _ = locked
    assert "ask on the site that this book" in call(service, "GET", "/read/tales/page").text
    reply = call(service, "GET", "/read/tales?q=herons")
    assert reply.status_code == 401
    assert "Herons wait" not in reply.text


def test_an_open_service_puts_the_widget_in_its_pages(client: httpx.Client) -> None:
    for path in ("/", f"/read/{SAMPLE}", PAGE):
        page = client.get(path).text
        assert f'<bythebook-ask mode="inline" book="{SAMPLE}"' in page
        assert '<form class="ask" action="/"' in page  # inside it, for who runs no scripts
        assert re.search(r'<script src="/widget\.js\?v=\w+" defer></script>', page)


# Files that pages load


@pytest.mark.parametrize(
    ("name", "kind", "shared"),
    [
        ("reader.css", "text/css", "same-origin"),
        ("icon.svg", "image/svg+xml", "same-origin"),
        ("reader.js", "text/javascript", "same-origin"),
        ("widget.js", "text/javascript", "cross-origin"),
        ("admin.js", "text/javascript", "same-origin"),
        ("admin.css", "text/css", "same-origin"),
    ],
)
def test_files_are_kept_by_browsers_until_they_change(
    client: httpx.Client, name: str, kind: str, shared: str
) -> None:
    plain = client.get(f"/{name}", headers={"Accept-Encoding": "identity"})
    assert plain.headers["content-type"].partition(";")[0] == kind
    assert plain.headers["x-content-type-options"] == "nosniff"
    assert plain.headers["cross-origin-resource-policy"] == shared
    assert "immutable" not in plain.headers["cache-control"]
    assert "Accept-Encoding" in plain.headers["vary"]
    etag = plain.headers["etag"]
    again = client.get(f"/{name}", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"/{name}", headers={"If-None-Match": 'W/"old"'}).status_code == 200
    version = etag.removeprefix('W/"').removesuffix('"')
    for_good = client.get(f"/{name}?v={version}").headers["cache-control"]
    assert "immutable" in for_good
    assert "max-age=31536000" in for_good
    assert "immutable" not in client.get(f"/{name}?v=old").headers["cache-control"]


def test_files_travel_packed(client: httpx.Client) -> None:
    plain = client.get("/reader.css", headers={"Accept-Encoding": "identity"})
    with client.stream("GET", "/reader.css", headers={"Accept-Encoding": "gzip"}) as reply:
        packed = b"".join(reply.iter_raw())
    assert reply.headers["content-encoding"] == "gzip"
    assert len(packed) < len(plain.content) / 2
    assert gzip.decompress(packed) == plain.content


def test_pages_name_files_by_their_content(client: httpx.Client) -> None:
    page = client.get(PAGE).text
    files = re.findall(r'(?:href|src)="([^"]*\?v=[^"]*)"', page)
    assert {urlsplit(file).path for file in files} == {
        "/reader.css",
        "/icon.svg",
        "/reader.js",
        "/widget.js",
    }
    for file in files:
        assert "immutable" in client.get(file).headers["cache-control"]


def test_no_page_holds_a_style_or_a_script_of_its_own(client: httpx.Client) -> None:
    for path in ("/", f"/read/{SAMPLE}", PAGE, "/docs", f"/?q={quote(QUESTION)}"):
        page = client.get(path).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
        code = re.sub(r'<script type="application/ld\+json">', "", page)  # which no browser runs
        assert not re.search(r"<script(?![^>]*\ssrc=)", code)


# The book as its author made it


def test_formulas_pictures_code_and_links_are_shown(
    client: httpx.Client, sample_core: Core
) -> None:
    pages = {
        document.document_id: client.get(f"/read/{SAMPLE}/{quote(document.document_id)}").text
        for document in sample_core.library.documents(SAMPLE)
    }
    book = "".join(pages.values())
    assert book.count("<math ") > 300
    assert "$" not in re.sub(r"<pre.*?</pre>|<code.*?</code>|<[^>]*>", "", book, flags=re.DOTALL)
    assert '<div class="code" data-language="python">' in book
    for page, shown in pages.items():
        article = re.search(r"<article.*?</article>", shown, flags=re.DOTALL)
        assert article is not None
        for link in links(article.group()):
            if link.startswith("/read/"):
                place = urlsplit(link)
                target = pages[unquote(place.path).removeprefix(f"/read/{SAMPLE}/")]
                assert not place.fragment or f'id="{unquote(place.fragment)}"' in target, (
                    page,
                    link,
                )


def test_pictures_are_served_to_draw_and_nothing_else(client: httpx.Client) -> None:
    page = client.get(f"/read/{SAMPLE}/balance-and-walking/balance").text
    address = re.search(r'<img src="(/pictures/[^"]*)"', page)
    assert address is not None
    reply = client.get(address.group(1))
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "image/svg+xml"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in reply.headers["cache-control"]
    assert "sandbox" in reply.headers["content-security-policy"]
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    for wrong in (
        f"/pictures/{SAMPLE}/x.svg",
        "/pictures/gone/x.svg",
        f"/pictures/{SAMPLE}/x.html",
    ):
        assert client.get(wrong).status_code == 404


def test_sentences_of_a_page_come_as_their_author_set_them(
    client: httpx.Client, sample_core: Core
) -> None:
    document = sample_core.library.document(SAMPLE, "balance-and-walking/balance")
    start = document.text.index("The zero moment point (ZMP)")
    path = f"/read/{SAMPLE}/{quote(document.document_id)}.html"
    both = [f"{start}-{start + 27}", f"{start + 4}-{start + 8}"]
    reply = client.get(path, params={"range": both})
    assert reply.text.splitlines() == [
        f'<div data-range="{both[0]}"><span>The <strong>zero moment point</strong> (ZMP)</span></div>',
        f'<div data-range="{both[1]}"><span><strong>zero</strong></span></div>',
    ]
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["cache-control"] == "private, max-age=600"
    whole = len(document.text)
    wrong = ["0-0", "5-4", "-1-4", f"0-{whole + 1}", "x", "", "0-20001"]
    for ranges in ([], *([one] for one in wrong), ["0-1"] * 101):
        assert client.get(path, params={"range": ranges}).status_code == 422, ranges
    assert client.get(f"/read/{SAMPLE}/gone.html").status_code == 404


def test_a_section_comes_with_its_sentences_marked_and_without_its_title(
    client: httpx.Client, sample_core: Core
) -> None:
    document = sample_core.library.document(SAMPLE, "balance-and-walking/balance")
    start = document.text.index("The zero moment point (ZMP)")
    section = document.section_at(start)
    path = f"/read/{SAMPLE}/{quote(document.document_id)}.html"
    shown = client.get(path, params={"section_at": start, "range": f"{start}-{start + 27}"}).text
    marked = "".join(re.findall(r"<mark>(.*?)</mark>", shown))
    assert marked == document.text[start : start + 27]
    assert f">{section.title}<" not in shown
    first = document.text[section.start : section.end].strip().split("\n")[-1]
    assert first[:20] in re.sub(r"<[^>]*>", "", shown)
    assert "id=" not in shown
    assert client.get(path, params={"section_at": 10**9}).status_code == 200
    assert client.get(path, params={"section_at": -1}).status_code == 422
