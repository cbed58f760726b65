"""The web site reader against a real server on loopback."""

import gzip
import shutil
import socket
import ssl
import subprocess
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.adapters.books.site_server import Reply, ScriptedSite, serve_site
from tests.unit.readers.test_pictures import png

from bythebook.adapters.readers.site import crawl
from bythebook.adapters.readers.site.fetch import FetchedPage
from bythebook.adapters.readers.site.limits import USER_AGENT, SiteLimits
from bythebook.adapters.readers.site.reader import SiteReader
from bythebook.domain.books import Document, Link, SourceBook
from bythebook.domain.marks import Picture
from bythebook.errors import UnreadableBook

_LIMITS = SiteLimits(total_seconds=20, request_seconds=2, longest_retry_wait=0.05)


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with serve_site(ScriptedSite()) as served:
        yield served


def _read(
    site: ScriptedSite, cache: Path, path: str = "/", limits: SiteLimits = _LIMITS
) -> SourceBook:
    reader = SiteReader(cache, allowed_hosts=frozenset({site.host}), limits=limits)
    return reader.read(site.url + path, title=None, base_url=None)


def _ids(book: SourceBook) -> list[str]:
    return [document.document_id for document in book.documents]


def _document(book: SourceBook, document_id: str) -> Document:
    return next(one for one in book.documents if one.document_id == document_id).read()


def _sitemap(*urls: str, tag: str = "url") -> str:
    entries = "".join(f"<{tag}><loc>{url}</loc></{tag}>" for url in urls)
    root = "urlset" if tag == "url" else "sitemapindex"
    return (
        f'<?xml version="1.0"?><{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"{entries}</{root}>"
    )


def test_a_site_is_read_from_link_to_link(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "Welcome.", "b.html", "/a.html")
    site.page("/b.html", "Second", "The second page.", "/", "c/")
    site.page("/a.html", "First", "The first page.", "b.html#x")
    site.page("/c/", "Third", "Deeper down.", "../a.html")
    book = _read(site, tmp_path)
    assert _ids(book) == ["index", "b", "a", "c"]
    document = _document(book, "c")
    assert document.text.startswith("Third\n\nDeeper down.")
    assert document.url == f"{site.url}/c/"
    assert document.links == (Link("../a.html", "a"),)
    assert (book.title, book.reader, book.base_url) == ("A Site", "web site", f"{site.url}/")
    assert not book.skipped
    assert not book.warnings
    assert sorted(site.paths) == ["/", "/a.html", "/b.html", "/c/"]


def test_pictures_come_from_the_site_itself_and_no_other(
    site: ScriptedSite, tmp_path: Path
) -> None:
    site.replies["/"] = Reply(
        "<html><body><main><h1>Start</h1><p>Many words about herons.</p>"
        '<img src="a.png" alt="A heron"><img src="http://127.0.0.1:1/b.png" alt="Far">'
        '<img src="page.png"><img src="gone.png"></main></body></html>'
    )
    site.replies["/a.png"] = Reply(png(), type="image/png")
    site.replies["/page.png"] = Reply("<script>alert(1)</script>", type="image/png")
    book = _read(site, tmp_path)
    document = book.documents[0].read()
    (picture,) = (mark for mark in document.marks if isinstance(mark, Picture))
    assert document.text[picture.start : picture.end] == "A heron"
    assert book.load_picture(picture.file) == png()
    reasons = {one.target: one.reason for one in document.missing_pictures}
    assert set(reasons) == {"http://127.0.0.1:1/b.png", "page.png", "gone.png"}
    assert "another site" in reasons["http://127.0.0.1:1/b.png"]
    assert "404" in reasons["gone.png"]


def test_only_pages_below_the_start_address_are_read(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/book/", "Start", "", "one", "/blog/", "https://example.org/book/", "../other")
    site.page("/book/one", "One", "", "/book/", "//example.net/x", "mailto:a@b.c", "cover.png")
    site.page("/blog/", "Blog")
    book = _read(site, tmp_path, "/book/")
    assert _ids(book) == ["index", "one"]
    assert book.base_url == f"{site.url}/book/"
    assert _document(book, "one").links == (Link("/book/", "index"),)
    assert site.paths == ["/book/", "/book/one"]


@pytest.mark.parametrize("redirects", [True, False])
def test_a_folder_may_be_given_without_its_slash(
    site: ScriptedSite, tmp_path: Path, redirects: bool
) -> None:
    site.page("/docs/", "Start", "", "/docs/one", "/blog")
    site.page("/docs/one", "One")
    site.page("/blog", "Blog")
    site.replies["/docs"] = (
        Reply("", 301, headers={"Location": "/docs/"}) if redirects else site.replies["/docs/"]
    )
    book = _read(site, tmp_path, "/docs")
    assert (_ids(book), book.base_url) == (["index", "one"], f"{site.url}/docs/")


def test_a_sitemap_lists_the_pages(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/robots.txt"] = Reply(f"Sitemap: {site.url}/maps/all.xml", type="text/plain")
    site.replies["/maps/all.xml"] = Reply(
        _sitemap(f"{site.url}/maps/book.xml.gz", f"{site.url}/maps/all.xml", tag="sitemap"),
        type="application/xml",
    )
    pages = [f"{site.url}/book/{name}" for name in ("", "two", "one")]
    site.replies["/maps/book.xml.gz"] = Reply(
        gzip.compress(_sitemap(*pages, f"{site.url}/blog/", "http://10.0.0.1/book/x").encode()),
        type="application/gzip",
    )
    site.page("/book/", "Start", "", "linked")
    site.page("/book/one", "One")
    site.page("/book/two", "Two")
    site.page("/book/linked", "Linked from the text")
    book = _read(site, tmp_path, "/book/")
    assert _ids(book) == ["index", "two", "one", "linked"]
    assert "/blog/" not in site.paths


def test_a_page_beside_the_sitemap_counts_only_if_the_text_links_to_it(
    site: ScriptedSite, tmp_path: Path
) -> None:
    site.replies["/sitemap.xml"] = Reply(
        _sitemap(f"{site.url}/", f"{site.url}/one"), type="text/xml"
    )
    site.page("/", "Start")
    site.page("/one", "One")
    site.replies["/"] = Reply(
        "<nav><a href='/tags'>Tags</a></nav><main><h1>Start</h1><p>Words.</p></main>"
    )
    site.page("/tags", "Tags")
    assert _ids(_read(site, tmp_path)) == ["index", "one"]


def test_entities_of_a_sitemap_are_not_expanded(site: ScriptedSite, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("one")
    site.replies["/sitemap.xml"] = Reply(
        f'<!DOCTYPE u [<!ENTITY e SYSTEM "file://{secret}"><!ENTITY two "two">]><urlset><url><loc>'
        f"{site.url}/&e;</loc></url><url><loc>{site.url}/&two;</loc></url></urlset>",
        type="text/xml",
    )
    site.page("/", "Start", "", "three")
    site.page("/three", "Three")
    book = _read(site, tmp_path / "cache")
    assert _ids(book) == ["index", "three"]
    assert not {"/one", "/two"} & set(site.paths)


def test_robots_rules_are_kept(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/robots.txt"] = Reply(
        "User-agent: *\nDisallow: /\n\nUser-agent: ByTheBook\nDisallow: /private\n",
        type="text/plain",
    )
    site.page("/", "Start", "", "private/a", "open", "around")
    site.page("/private/a", "Private")
    site.page("/open", "Open")
    site.replies["/around"] = Reply("", 302, headers={"Location": "/private/a"})
    book = _read(site, tmp_path)
    assert _ids(book) == ["index", "open"]
    assert {one.name: one.reason for one in book.skipped} == {
        f"{site.url}/private/a": "The site's robots.txt does not allow it.",
        f"{site.url}/around": "The site's robots.txt does not allow it.",
    }
    assert "/private/a" not in site.paths
    assert {headers["User-Agent"] for _, headers in site.asked} == {USER_AGENT}


@pytest.mark.parametrize("type_", ["text/plain", "application/octet-stream", "text/html", ""])
def test_a_closed_site_is_not_read(site: ScriptedSite, tmp_path: Path, type_: str) -> None:
    site.replies["/robots.txt"] = Reply("User-agent: *\nDisallow: /", type=type_)
    site.page("/", "Start")
    with pytest.raises(UnreadableBook, match=r"robots\.txt does not allow it"):
        _read(site, tmp_path)
    assert site.paths == []


@pytest.mark.parametrize(
    "rules",
    [
        Reply("", 500),
        Reply("", 429),
        Reply("#" * 600_000, type="text/plain"),
        Reply("User-agent: *\nDisallow: /", type="text/plain", headers={"Content-Encoding": "br"}),
    ],
)
def test_a_site_whose_rules_cannot_be_read_is_not_read(
    site: ScriptedSite, tmp_path: Path, rules: Reply
) -> None:
    site.replies["/robots.txt"] = rules
    site.page("/", "Start")
    with pytest.raises(UnreadableBook, match=r"robots\.txt cannot be read"):
        _read(site, tmp_path)
    assert site.paths == []


def test_a_crawl_delay_is_kept_up_to_a_bound(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/robots.txt"] = Reply("User-agent: *\nCrawl-delay: 900", type="text/plain")
    site.page("/", "Start", "", "one")
    site.page("/one", "One")
    began = time.monotonic()
    book = _read(site, tmp_path, limits=replace(_LIMITS, longest_crawl_delay=0.2))
    assert _ids(book) == ["index", "one"]
    assert 0.6 <= time.monotonic() - began < 300


def test_the_wish_not_to_be_indexed_or_followed_is_kept(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", "hidden", "dead-end")
    site.replies["/hidden"] = Reply(
        '<head><meta name="robots" content="noindex"></head><main><h1>Hidden</h1>'
        '<p><a href="/behind">behind</a> <a rel="nofollow" href="/not">not</a></p></main>'
    )
    site.replies["/dead-end"] = Reply(
        '<meta name="ROBOTS" content="NoFollow"><main><h1>End</h1><a href="/never">x</a></main>'
    )
    site.page("/behind", "Behind")
    book = _read(site, tmp_path)
    assert _ids(book) == ["index", "dead-end", "behind"]
    assert [one.reason for one in book.skipped] == ["It asks not to be indexed."]
    assert not {"/not", "/never"} & set(site.paths)


def test_the_second_run_is_answered_by_nothing_but_304(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/robots.txt"] = Reply("User-agent: *\nAllow: /", type="text/plain")
    site.replies["/sitemap.xml"] = Reply(
        _sitemap(f"{site.url}/", f"{site.url}/one"), type="text/xml"
    )
    site.page("/", "Start", "", "one")
    site.page("/one", "One")
    first = _read(site, tmp_path)
    site.answered.clear()
    second = _read(site, tmp_path)
    assert site.answered == [304] * 4
    assert [one.fingerprint for one in second.documents] == [
        one.fingerprint for one in first.documents
    ]
    site.page("/one", "One", "Changed.")
    site.answered.clear()
    third = _read(site, tmp_path)
    assert sorted(site.answered) == [200, 304, 304, 304]
    assert third.documents[0].fingerprint == first.documents[0].fingerprint
    assert third.documents[1].fingerprint != first.documents[1].fingerprint


def test_the_date_of_a_page_is_sent_back_too(site: ScriptedSite, tmp_path: Path) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    site.replies["/"] = Reply(
        "<main><h1>Start</h1></main>", headers={"ETag": "", "Last-Modified": date}
    )
    _read(site, tmp_path)
    _read(site, tmp_path)
    sent = [headers.get("If-Modified-Since") for path, headers in site.asked if path == "/"]
    assert sent == [None, date]


def test_what_may_not_be_stored_is_not(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "A secret of the owners.")
    page = site.replies["/"]
    assert isinstance(page, Reply)
    site.replies["/"] = replace(page, headers={"Cache-Control": "private, No-Store"})
    _read(site, tmp_path)
    _read(site, tmp_path)
    assert all("If-None-Match" not in headers for path, headers in site.asked if path == "/")


def test_a_stopped_run_is_taken_up_where_it_was(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", *(f"p{number}" for number in range(6)))
    for number in range(6):
        site.page(f"/p{number}", f"Page {number}", "Words.")

    reader = SiteReader(tmp_path, allowed_hosts=frozenset({site.host}), limits=_LIMITS)
    with pytest.MonkeyPatch.context() as patch:
        take = crawl.Crawl._add_page

        def die(self: crawl.Crawl, fetched: FetchedPage, depth: int) -> None:
            if fetched.address.path == "/p3":
                raise KeyboardInterrupt
            take(self, fetched, depth)

        patch.setattr(crawl.Crawl, "_add_page", die)
        with pytest.raises(KeyboardInterrupt):
            reader.read(site.url + "/", title=None, base_url=None)
    site.asked.clear()
    assert len(_read(site, tmp_path).documents) == 7
    assert site.paths == ["/p4", "/p5"]
    site.asked.clear()
    _read(site, tmp_path)  # after a complete run, pages are requested again
    assert len(site.paths) == 7


def test_a_damaged_cache_is_dropped(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start")
    _read(site, tmp_path)
    (cache,) = tmp_path.glob("*.sqlite3")
    cache.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    assert _ids(_read(site, tmp_path)) == ["index"]
    site.answered.clear()
    _read(site, tmp_path)
    assert 304 in site.answered


def test_a_cache_that_cannot_be_written_is_reported(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start")
    (tmp_path / "file").write_text("")
    book = _read(site, tmp_path / "file" / "cache")
    assert _ids(book) == ["index"]
    assert book.warnings == ("The fetched pages could not be cached for the next run.",)


def test_pages_that_are_gone_leave_the_cache(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", "one")
    site.page("/one", "One", "Some words of the page that goes.")
    _read(site, tmp_path)
    site.page("/", "Start")
    _read(site, tmp_path)
    site.page("/", "Start", "", "one")
    site.asked.clear()
    _read(site, tmp_path)
    (headers,) = [headers for path, headers in site.asked if path == "/one"]
    assert "If-None-Match" not in headers


def test_a_page_of_two_addresses_is_read_once(site: ScriptedSite, tmp_path: Path) -> None:
    site.page(
        "/", "Start", "", "guide/", "guide", "guide/index.html", "guide?utm=1", "print", "copy"
    )
    site.page("/guide/", "Guide", "How it is done.", "#top")
    site.replies["/print"] = Reply(
        '<head><link rel="canonical" href="/guide/"></head><main><h1>Guide</h1>'
        '<p>How it is done.</p><p><a href="#top">#top</a></p></main>'
    )
    site.replies["/copy"] = site.replies["/guide/"]
    book = _read(site, tmp_path)
    assert _ids(book) == ["index", "guide"]
    assert {link.document_id for link in _document(book, "index").links} == {"guide"}
    assert len([path for path in site.paths if path.startswith("/guide")]) == 1


def test_pages_that_all_name_one_as_canonical_are_still_read(
    site: ScriptedSite, tmp_path: Path
) -> None:
    head = '<head><link rel="canonical" href="/"></head>'
    site.replies["/"] = Reply(f'{head}<main><h1>Start</h1><p><a href="one">One</a></p></main>')
    site.replies["/one"] = Reply(f"{head}<main><h1>One</h1><p>What only this page says.</p></main>")
    book = _read(site, tmp_path)
    assert _ids(book) == ["index", "one"]
    assert _document(book, "one").url == f"{site.url}/one"


def test_the_address_that_a_page_calls_its_own_is_its_url(
    site: ScriptedSite, tmp_path: Path
) -> None:
    site.page("/", "Start", "", "one/")
    site.replies["/one/"] = Reply(
        '<head><link rel="canonical" href="/one"></head><main><h1>One</h1></main>'
    )
    assert _document(_read(site, tmp_path), "one").url == f"{site.url}/one"


def test_redirects_are_followed_on_the_site_only(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", "old", "away", "loop")
    site.replies["/old"] = Reply("", 301, headers={"Location": "older"})
    site.replies["/older"] = Reply("", 308, headers={"Location": "/new"})
    site.page("/new", "New")
    site.replies["/away"] = Reply("", 302, headers={"Location": "https://example.org/"})
    site.replies["/loop"] = Reply("", 302, headers={"Location": "/loop"})
    book = _read(site, tmp_path)
    assert _ids(book) == ["index", "new"]
    assert _document(book, "index").links == (Link("old", "new"),)
    assert [one.reason for one in book.skipped] == [
        "It redirects to another site (https://example.org/).",
        "It redirects more than 5 times.",
    ]


def test_a_page_that_sends_its_readers_on_is_no_page(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/"] = Reply('<meta http-equiv="refresh" content="0; url=book/"><p>Moving</p>')
    site.page("/book/", "Book", "", "/old")
    site.replies["/old"] = Reply('<meta http-equiv="Refresh" content="0;URL=\'/book/one\'">')
    site.page("/book/one", "One")
    book = _read(site, tmp_path)
    assert _ids(book) == ["book", "book/one"]
    assert _document(book, "book").links == (Link("/old", "book/one"),)


def test_a_start_page_on_another_site_is_named(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/"] = Reply("", 302, headers={"Location": "https://example.org/book/"})
    with pytest.raises(UnreadableBook) as raised:
        _read(site, tmp_path)
    assert raised.value.help_message == "Use https://example.org/book/ instead."


def test_pages_added_by_generators_are_left_out(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", "search.html", "genindex.html")
    site.page("/search.html", "Search")
    site.page("/genindex.html", "Index")
    book = _read(site, tmp_path)
    assert _ids(book) == ["index"]
    assert book.warnings == (
        f"Left out, not part of the book: {site.url}/search.html, {site.url}/genindex.html.",
    )


def test_broken_links_are_reported(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", "missing", "one#there", "one#not-there", "#nowhere", "a.pdf")
    site.replies["/one"] = Reply('<main><h1>One</h1><h2 id="there">There</h2><p>Words.</p></main>')
    book = _read(site, tmp_path)
    assert _document(book, "index").links == (
        Link("missing", ""),
        Link("one#there", "one", "there"),
        Link("one#not-there", "", "not-there"),
        Link("#nowhere", "", "nowhere"),
    )
    assert [(one.name, one.reason) for one in book.skipped] == [
        (f"{site.url}/missing", "The server answered 404.")
    ]


def test_a_new_page_changes_the_fingerprint_of_those_that_link_to_it(
    site: ScriptedSite, tmp_path: Path
) -> None:
    site.page("/", "Start", "", "one", "two")
    site.page("/two", "Two")
    first = _read(site, tmp_path)
    site.page("/one", "One")
    second = _read(site, tmp_path)
    marks = [
        {one.document_id: one.fingerprint for one in book.documents} for book in (first, second)
    ]
    assert marks[0]["index"] != marks[1]["index"]
    assert marks[0]["two"] == marks[1]["two"]


def test_the_menu_gives_order_and_chapters(site: ScriptedSite, tmp_path: Path) -> None:
    menu = """<aside class="sidebar"><ul>
      <li><a href="/">Start</a></li>
      <li><a href="/basics/">Basics</a><ul><li><a href="/basics/z">Z</a></li>
        <li><a href="/basics/a">A</a></li></ul></li>
      <li><span>More</span><ul><li><a href="/deep">Deep</a></li></ul></li></ul></aside>"""
    for path, title in {
        "/": "Start", "/basics/": "The Basics", "/basics/z": "Zed", "/basics/a": "Ay", "/deep": "Deep"
    }.items():  # fmt: skip
        site.replies[path] = Reply(
            f"<title>{title} - Site</title>{menu}<main><h1>{title}</h1><p>On {title}.</p></main>"
        )
    site.replies["/sitemap.xml"] = Reply(
        _sitemap(*(f"{site.url}{path}" for path in ("/deep", "/basics/a", "/basics/z", "/basics/", "/"))),
        type="text/xml",
    )  # fmt: skip
    book = _read(site, tmp_path)
    read = [document.read() for document in book.documents]
    assert [(one.document_id, one.chapter) for one in read] == [
        ("index", "Start"),
        ("basics", "The Basics"),
        ("basics/z", "The Basics"),
        ("basics/a", "The Basics"),
        ("deep", "More"),
    ]
    assert all("On " in one.text and "More" not in one.text for one in read)
    assert all(one.left_out[0].reason == "navigation" for one in read)
    assert book.title == "Site"


def test_limits_of_pages_bytes_and_depth_are_reported(site: ScriptedSite, tmp_path: Path) -> None:
    for number in range(12):
        site.page(f"/{number}" if number else "/", f"Page {number}", "x" * 2000, f"/{number + 1}")
    pages = _read(site, tmp_path / "a", limits=replace(_LIMITS, pages=3, depth=99))
    assert len(pages.documents) == 3
    assert pages.warnings == ("The limit of 3 pages was reached. 1 known pages were not read.",)
    size = _read(site, tmp_path / "b", limits=replace(_LIMITS, total_bytes=7000, depth=99))
    assert len(size.documents) == 3
    assert size.warnings == ("The limit of 7,000 bytes was reached. 1 known pages were not read.",)
    depth = _read(site, tmp_path / "c", limits=replace(_LIMITS, depth=2))
    assert len(depth.documents) == 3
    assert depth.warnings == (
        "1 pages are more than 2 links away from the start page and were not read.",
    )


def test_an_endless_calendar_comes_to_an_end(site: ScriptedSite, tmp_path: Path) -> None:
    def month(answering: BaseHTTPRequestHandler) -> None:
        number = int(answering.path.rsplit("/", 1)[1] or 0)
        body = f"<main><h1>Month {number}</h1><a href='/m/{number + 1}'>+</a></main>".encode()
        answering.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + body
        )

    for number in range(1, 50):
        site.replies[f"/m/{number}"] = month
    site.page("/", "Start", "", "m/1", "a/a/a/a/a", "?day=1", "?day=2")
    book = _read(site, tmp_path)
    assert len(book.documents) == 1 + _LIMITS.depth
    assert not [path for path in site.paths if "?" in path or path.startswith("/a")]


def test_a_busy_server_is_asked_again(site: ScriptedSite, tmp_path: Path) -> None:
    def busy_twice(answering: BaseHTTPRequestHandler) -> None:
        asked = [path for path, _ in site.asked].count("/one")
        body = b"<main><h1>One</h1><p>At last.</p></main>"
        busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        answering.wfile.write(busy if asked < 3 else head + body)

    site.page("/", "Start", "", "one", "never")
    site.replies["/one"] = busy_twice
    site.replies["/never"] = Reply("", 429, headers={"Retry-After": "nonsense"})
    book = _read(site, tmp_path)
    assert _ids(book) == ["index", "one"]
    assert [one.reason for one in book.skipped] == ["The server answered 429."]
    assert site.paths.count("/one") == 3
    assert site.paths.count("/never") == 3


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body)[2:-4]),
    ],
)
def test_compressed_pages_are_inflated(
    site: ScriptedSite, tmp_path: Path, encoding: str, packed: object
) -> None:
    assert callable(packed)
    words = " ".join(f"word{number}" for number in range(50_000))
    site.replies["/"] = Reply(
        packed(f"<main><h1>Start</h1><p>{words}</p></main>".encode()),
        headers={"Content-Encoding": encoding},
    )
    assert words in _document(_read(site, tmp_path), "index").text


def test_one_connection_is_kept_for_all_pages(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/", "Start", "", *(f"p{number}" for number in range(8)))
    for number in range(8):
        site.page(f"/p{number}", f"Page {number}")
    assert len(_read(site, tmp_path).documents) == 9
    assert site.connections == 1


def test_the_encoding_that_the_server_names_is_used(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/"] = Reply(
        "<main><h1>Žluťoučký kůň</h1></main>".encode("iso-8859-2"),
        type="text/html; charset=ISO-8859-2",
    )
    assert _document(_read(site, tmp_path), "index").title == "Žluťoučký kůň"


def test_readers_may_know_the_site_by_another_address(site: ScriptedSite, tmp_path: Path) -> None:
    site.page("/book/", "Start", "", "one")
    site.page("/book/one", "One")
    reader = SiteReader(tmp_path, allowed_hosts=frozenset({"127.0.0.1"}), limits=_LIMITS)
    book = reader.read(f"{site.url}/book/", title="Mine", base_url="https://example.org/b")
    assert [one.read().url for one in book.documents] == [
        "https://example.org/b/",
        "https://example.org/b/one",
    ]
    assert (book.title, book.base_url) == ("Mine", "https://example.org/b/")


def test_mdbooks_menu_in_a_frame_is_read(site: ScriptedSite, tmp_path: Path) -> None:
    site.replies["/toc.html"] = Reply(
        """<ol class="chapter"><li class="chapter-item"><a href="index.html">Intro</a></li>
        <li class="part-title">Part</li><li class="chapter-item"><a href="b.html">1. B</a></li>
        <li><ol class="section"><li><a href="a.html">1.1. A</a></li></ol></li></ol>"""
    )
    frame = '<nav><noscript><iframe src="toc.html"></iframe></noscript></nav>'
    for name, title in {"": "Intro", "b.html": "B", "a.html": "A"}.items():
        site.replies[f"/{name}"] = Reply(
            f"{frame}<div id='content'><main><h1>{title}</h1></main></div>"
        )
    book = _read(site, tmp_path)
    read = [document.read() for document in book.documents]
    assert [(one.document_id, one.chapter) for one in read] == [
        ("index", "Intro"),
        ("b", "B"),
        ("a", "B"),
    ]


def _certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a certificate for a name, signed by itself."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = f"""openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2
        -subj /CN={name} -addext subjectAltName=DNS:{name} -keyout {key} -out {certificate}"""
    subprocess.run(command.split(), check=True, capture_output=True)
    return certificate, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_secure_site_must_prove_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = _certificate(tmp_path, "book.example")
    asked: list[str | None] = []
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    tls.sni_callback = lambda _socket, name, _context: asked.append(name)
    with serve_site(ScriptedSite(), tls) as site:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", site.port))]
        resolve = socket.getaddrinfo
        monkeypatch.setattr(
            socket,
            "getaddrinfo",
            lambda host, *rest, **named: (
                found if str(host).endswith(".example") else resolve(host, *rest, **named)
            ),
        )
        site.page("/", "Start", "", "one")
        site.page("/one", "One")
        hosts = frozenset({"book.example", "other.example"})
        reader = SiteReader(tmp_path / "cache", allowed_hosts=hosts, limits=_LIMITS)
        with pytest.raises(UnreadableBook, match="No secure connection"):  # nobody vouches for it
            reader.read(f"https://book.example:{site.port}/", title=None, base_url=None)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        book = reader.read(f"https://book.example:{site.port}/", title=None, base_url=None)
        assert _ids(book) == ["index", "one"]
        with pytest.raises(UnreadableBook, match="No secure connection"):  # another's certificate
            reader.read(f"https://other.example:{site.port}/", title=None, base_url=None)
    assert set(asked) == {"book.example", "other.example"}
    assert {headers["Host"] for _, headers in site.asked} == {f"book.example:{site.port}"}
