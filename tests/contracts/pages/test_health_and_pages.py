"""Health routes, the OpenAPI description, and the pages for people."""

import asyncio
import html
import http.client
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import httpx
import pytest
from tests.conftest import SAMPLE, free_port, serve_core
from tests.contracts.fakes import (
    READER,
    FakeIndex,
    FakeLibrary,
    call,
    fake_service,
    one_page,
)

from bythebook.ask.show.links import quote_check
from bythebook.bootstrap import Core
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book, Chunk, Unit
from bythebook.errors import (
    EmbedderFailed,
    NoBooks,
    PartFailed,
    RecordsFailed,
    RecordsOutdated,
    StoreFailed,
    UnknownBook,
    WrongEmbedder,
)
from bythebook.http.app import Service, create_app
from bythebook.http.contracts.health import examine
from bythebook.settings import Settings

ANSWERED = "How do ROS 2 nodes communicate?"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FOREIGN = "Who won the football world cup in 1998?"


# Health


def test_a_living_process_says_so(client: httpx.Client) -> None:
    reply = client.get("/livez")
    assert (reply.status_code, reply.json()) == (200, {"status": "alive"})


@pytest.mark.parametrize("path", ["/readyz", "/health"])
def test_each_part_is_reported_with_its_latency(client: httpx.Client, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 200
    assert reply.json()["status"] == "ok"
    parts = reply.json()["dependencies"]
    needed = {"library", "embedder", "index"}
    assert set(parts) >= (needed if path == "/readyz" else {*needed, "database"})
    assert "database" not in parts or path == "/health"  # answers go on without the records
    for part in parts.values():
        assert set(part) == {"status", "latency_ms", "message"}
        assert part["status"] == "ok"
        assert part["latency_ms"] >= 0


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server without a book."""
    core = Core(Settings(data_dir=tmp_path_factory.mktemp("empty"), port=free_port()))
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


def test_an_empty_library_lives_but_is_not_ready_and_says_why(empty: httpx.Client) -> None:
    assert empty.get("/livez").status_code == 200
    reply = empty.get("/readyz")
    assert reply.status_code == 503
    assert reply.json()["status"] == "degraded"
    library = reply.json()["dependencies"]["library"]
    assert library["status"] == "failed"
    assert "bythebook ingest" in library["message"]
    assert empty.get("/health").status_code == 200
    assert empty.get("/health").json() | {"dependencies": {}} == {
        "status": "degraded",
        "dependencies": {},
    }


def test_an_empty_library_says_on_its_page_what_to_do(empty: httpx.Client) -> None:
    reply = empty.get("/")
    assert reply.status_code == 200
    assert "bythebook ingest" in reply.text


def test_asking_an_empty_library_shows_a_page_that_says_it_could_not_look(
    empty: httpx.Client,
) -> None:
    response = empty.get("/", params={"q": "What is ROS 2?"})
    assert response.status_code == 200
    assert "Could not look it up" in response.text
    assert "does not answer" not in response.text


def test_a_failing_part_is_named_and_the_others_are_still_tried() -> None:
    async def fail() -> None:
        raise StoreFailed("The index is gone.", "Ingest again.")

    async def sound() -> None:
        return

    plain = fake_service()
    service = replace(plain, checks={"index": fail, "embedder": sound})
    reply = call(service, "GET", "/readyz")
    parts = reply.json()["dependencies"]
    assert reply.status_code == 503
    assert parts["index"]["message"] == StoreFailed.public
    assert parts["embedder"]["status"] == "ok"


FAILURES = (
    StoreFailed("/srv/secret-host is gone.", "Look into secret-host."),
    NoBooks("secret-host", "secret-host"),
    WrongEmbedder("secret-host", "secret-host"),
    EmbedderFailed("secret-host", "secret-host"),
    RecordsFailed("payroll at secret-host:5432 is gone.", "Start secret-host."),
    RecordsOutdated("secret-host", "secret-host"),
    PartFailed("Redis at secret-host:6379 is gone.", "Start secret-host."),
    UnknownBook("secret-host", "secret-host"),
    RuntimeError("secret-host"),
)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("path", ["/readyz", "/health"])
def test_strangers_learn_what_failed_but_not_where(path: str, failure: Exception) -> None:
    async def fail() -> None:
        raise failure

    reply = call(replace(fake_service(), checks={"one": fail}), "GET", path)
    part = reply.json()["dependencies"]["one"]
    assert part["status"] == "failed"
    assert len(part["message"]) > 20
    assert "secret" not in reply.text


def test_who_runs_the_service_is_told_all_of_it() -> None:
    async def fail() -> None:
        raise RecordsFailed("payroll at db:5432 is gone.", "Start it.")

    (part,) = asyncio.run(examine({"database": fail})).dependencies.values()
    assert part.message == "payroll at db:5432 is gone. Start it."


# OpenAPI


def test_every_reference_of_the_description_leads_somewhere(client: httpx.Client) -> None:
    reply = client.get("/openapi.json")
    schemas = reply.json()["components"]["schemas"]
    references = set(re.findall(r'"#/components/schemas/(\w+)"', reply.text))
    assert references
    assert references <= set(schemas)


def test_the_described_request_has_the_contracts_limits(client: httpx.Client) -> None:
    schema = client.get("/openapi.json").json()["components"]["schemas"]["QueryRequest"]
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is False
    fields = schema["properties"]
    assert (fields["query"]["minLength"], fields["query"]["maxLength"]) == (1, 500)
    selected = fields["selected_text"]["anyOf"][0]
    assert (selected["minLength"], selected["maxLength"]) == (10, 5000)
    top_k = fields["top_k"]
    assert (top_k["minimum"], top_k["maximum"], top_k["default"]) == (1, 20, 5)


def test_the_contracts_page_shows_routes_and_fields(client: httpx.Client) -> None:
    page = client.get("/docs").text
    for words in ("POST /api/query", "GET /readyz", "selected_text", "nearest_sections"):
        assert words in page


# Pages


class Tags(HTMLParser):
    """The tags of a page and what a reader sees of it."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def links(self) -> list[str]:
        """List what the page loads and where it leads, but for links out of the book."""
        return [
            str(value)
            for tag, attributes in self.tags
            for name, value in attributes.items()
            if name in {"href", "src", "action", "srcset", "data", "poster"}
            and not (tag == "a" and "external" in (attributes.get("rel") or ""))
        ]


ALLOWED_TAGS = frozenset(
    """html head meta title link body header main footer form label input button select option a p
    section sup ol ul li q span em h1 h2 h3 h4 h5 h6 table thead tbody tr th td pre code mark article
    details summary nav aside div figure figcaption script bythebook-ask blockquote img strong del kbd sub
    math mrow mi mn mo mtext mspace msub msup msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd
    mstyle mpadded""".split()
)
ALLOWED_ATTRIBUTES = frozenset(
    """lang charset name content rel href class action role for type id maxlength required value
    aria-label aria-live aria-current selected dir src defer mode book tabindex scope placeholder
    autocomplete data-book data-label book-title alt width height loading decoding open data-language start
    display alttext stretchy mathvariant accent displaystyle scriptlevel fence form lspace rspace separator
    minsize maxsize symmetric largeop movablelimits linethickness title""".split()
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
OWN_SCRIPTS = re.compile(r"/(?:reader|widget)\.js\?v=[0-9a-f]{16}")


def check_page(
    reply: httpx.Response, own: Sequence[str] = ("http://127.0.0.1:",), status: int = 200
) -> Tags:
    """Check what holds for every page: well formed, nothing foreign in it, only our own scripts run."""
    assert reply.status_code == status
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["content-security-policy"] == POLICY
    assert reply.headers["x-content-type-options"] == "nosniff"
    tags = Tags(reply.text)
    assert tags.open == []
    assert {tag for tag, _ in tags.tags} <= ALLOWED_TAGS
    assert {name for _, attributes in tags.tags for name in attributes} <= ALLOWED_ATTRIBUTES
    for attributes in (given for tag, given in tags.tags if tag == "script"):
        is_data = attributes.get("type") == "application/ld+json"  # which no browser runs
        assert is_data or OWN_SCRIPTS.fullmatch(attributes["src"] or "")
    # None stands in the page itself.
    assert not re.search(r'<script(?! type="application/ld\+json")[^>]*>[^<]', reply.text)
    for link in tags.links():
        assert link.startswith(("/", "#", *own)), link
        assert not link.startswith("//")
    return tags


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/docs",
        f"/?q={quote(ANSWERED)}",
        f"/?q={quote(FOREIGN)}",
        f"/?q={quote(ANSWERED)}&book={SAMPLE}",
        "/?q=x&book=nothing",
        f"/?q={'x' * 501}",
        "/?q=%00",
        "/?q=%ff%fe",
        "/?q=%20&book=%00",
        f"/read/{SAMPLE}",
        f"/read/{SAMPLE}?q={quote(ANSWERED)}",
        f"/read/{SAMPLE}?q=%00",
        f"/read/{SAMPLE}?q=%ff%fe",
        f"/read/{SAMPLE}?q={'x' * 501}",
    ],
)
def test_every_page_is_sound_and_loads_nothing_from_elsewhere(
    client: httpx.Client, path: str
) -> None:
    check_page(client.get(path))


def test_the_style_sheet_is_there_and_loads_nothing(client: httpx.Client) -> None:
    reply = client.get("/reader.css")
    assert reply.headers["content-type"].startswith("text/css")
    assert "mark" in reply.text
    assert not re.search(r"@import|url\(|https?:", reply.text)


def test_asking_on_the_page_gives_the_contracts_answer(client: httpx.Client) -> None:
    answer = client.post("/api/query", json={"query": ANSWERED}).json()["answer"]
    page = check_page(client.get("/", params={"q": ANSWERED}))
    shown = without_bars("".join(page.words))
    for citation in answer["citations"]:
        assert without_bars(citation["referenced_text"]) in shown
    opened = [link for link in page.links() if "?mark=" in link]
    passages = {citation["chunk_id"] for citation in answer["citations"]}
    assert len(opened) == len(answer["key_sentences"]) + len(passages)
    inks = [given.get("class") for _, given in page.tags]
    assert inks.count("key") == len(answer["key_sentences"])
    assert inks.count("context") == len(answer["sentences"]) - len(answer["key_sentences"])
    assert '<mark id="quote">' in client.get(opened[0]).text


def test_the_plain_text_of_a_page_can_be_had_by_the_section(
    client: httpx.Client, sample_core: Core
) -> None:
    document = next(one for one in sample_core.library.documents(SAMPLE) if len(one.sections) > 2)
    place = f"/read/{SAMPLE}/{document.document_id}.txt"
    for section in document.sections[1:3]:
        text = document.text[section.start : section.end].strip()
        for offset in (section.start, section.end - 1):
            assert client.get(place, params={"section_at": offset}).text == text
    assert client.get(place, params={"section_at": 10**8}).status_code == 200
    for wrong in ("-1", "x", str(10**12)):
        assert client.get(place, params={"section_at": wrong}).status_code == 422


def test_the_page_refuses_as_the_contract_does(client: httpx.Client) -> None:
    refusal = client.post("/api/query", json={"query": FOREIGN}).json()["refusal"]
    page = check_page(client.get("/", params={"q": FOREIGN}))
    shown = " ".join(page.words)
    assert refusal["reason"] in shown
    assert refusal["nearest_sections"][0]["section"] in shown


@pytest.mark.parametrize("path", ["/", f"/read/{SAMPLE}"])
def test_the_contents_lead_to_every_document(
    client: httpx.Client, sample_core: Core, path: str
) -> None:
    page = check_page(client.get(path))
    documents = sample_core.library.documents(SAMPLE)
    assert len(documents) > 20
    for_machines = (".txt", ".xml")
    linked = [
        link
        for link in page.links()
        if link.startswith(f"/read/{SAMPLE}/") and not link.endswith(for_machines)
    ]
    begin = linked[: len(linked) - len(documents)]  # the button to begin with, on the title page
    assert linked[len(begin) :] == [
        f"/read/{SAMPLE}/{quote(document.document_id)}" for document in documents
    ]
    assert set(begin) <= {linked[-len(documents)]}


def test_every_document_shows_the_very_text_that_offsets_count_in(
    client: httpx.Client, sample_core: Core
) -> None:
    for document in sample_core.library.documents(SAMPLE):
        place = f"/read/{SAMPLE}/{quote(document.document_id)}"
        plain = client.get(f"{place}.txt")
        assert plain.headers["content-type"] == "text/plain; charset=utf-8"
        assert plain.headers["x-content-type-options"] == "nosniff"
        assert plain.text == document.text
        reply = client.get(place)
        check_page(reply)
        article = re.search(r"<article[^>]*>(.*)</article>", reply.text, flags=re.DOTALL)
        assert article is not None
        assert visible(article.group(1)) == without_bars(document.text)


def visible(fragment: str) -> str:
    """What a reader sees, white space aside; a formula by its source."""
    text = re.sub(r'<math [^>]*alttext="([^"]*)">.*?</math>', r"\1", fragment, flags=re.DOTALL)
    return without_bars(html.unescape(re.sub(r"<[^>]*>", "", text)))


def without_bars(text: str) -> str:
    return "".join(text.replace(" | ", " ").split())


def test_each_heading_carries_the_anchor_that_links_use(
    client: httpx.Client, sample_core: Core
) -> None:
    for document in sample_core.library.documents(SAMPLE):
        page = client.get(f"/read/{SAMPLE}/{quote(document.document_id)}").text
        for section in document.sections:
            assert not section.anchor or page.count(f' id="{section.anchor}"') == 1


@pytest.mark.parametrize(
    "mark",
    [
        "5-20-00000000",
        "0-999999999-12345678",
        "20-5-00000000",
        "0-0-00000000",
        "x",
        "5-20",
        "-1-5-00000000",
        "🤖",
    ],
)
def test_a_mark_that_no_longer_fits_marks_nothing_and_says_so(
    client: httpx.Client, sample_core: Core, mark: str
) -> None:
    document = sample_core.library.documents(SAMPLE)[0]
    reply = client.get(f"/read/{SAMPLE}/{document.document_id}", params={"mark": mark})
    check_page(reply)
    assert "<mark" not in reply.text
    assert "The quoted passage has changed since this link was made." in reply.text


def test_without_a_mark_nothing_is_said_of_one(client: httpx.Client, sample_core: Core) -> None:
    document = sample_core.library.documents(SAMPLE)[0]
    page = client.get(f"/read/{SAMPLE}/{document.document_id}").text
    assert "<mark" not in page
    assert "has changed" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/read/nothing",
        "/read/nothing/page",
        "/read/nothing/page.txt",
        f"/read/{SAMPLE}/nothing",
        f"/read/{SAMPLE}/nothing.txt",
        f"/read/{SAMPLE}/.txt",
        f"/read/{SAMPLE}/",
        "/read/..",
        "/read/%2e%2e",
        "/read/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        f"/read/{SAMPLE}/%2e%2e/%2e%2e/current.json",
        f"/read/{SAMPLE}/..%2f..%2fcurrent.json",
        f"/read/{SAMPLE}/%2fetc%2fpasswd",
        f"/read/{SAMPLE}/documents/00000.json",
        f"/read/{SAMPLE}%2fgenerations",
        "/read/%00",
        f"/read/{SAMPLE}/%00",
        f"/read/{SAMPLE}/%00.txt",
        f"/read/{SAMPLE}/%ff%fe",
        "/read/" + "a" * 5000,
        f"/read/{SAMPLE}/" + "a" * 5000,
        "/read/Physical-AI",
        "/reader.css/..",
    ],
)
def test_what_is_not_there_is_404_whatever_its_name(client: httpx.Client, path: str) -> None:
    connection = http.client.HTTPConnection(client.base_url.host, client.base_url.port)
    try:  # http.client sends a path as it is; httpx would put its dots right
        connection.request("GET", path)
        reply = connection.getresponse()
        assert reply.status == 404
        assert json.loads(reply.read())["error"] == "not_found"
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/read/nothing", f"/read/{SAMPLE}/nothing", "/read/a/b?mark=5"])
def test_who_reads_in_a_browser_is_told_on_a_page(client: httpx.Client, path: str) -> None:
    tags = check_page(client.get(path, headers=BROWSER), status=404)
    assert "There is no such page" in tags.words
    assert "/" in tags.links()


def test_a_page_that_fails_says_so_on_a_page_and_nothing_of_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(FakeLibrary):
        def book(self, book_id: str) -> Book:
            raise RuntimeError("secret-host")

    async def browse() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(fake_service(library=Broken())))
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            return await client.get("/read/tales", headers=BROWSER)

    reply = asyncio.run(browse())
    tags = check_page(reply, status=500)
    assert "This did not work" in tags.words
    assert "secret" not in reply.text
    assert "secret-host" in caplog.text  # who runs the service learns it


# A hostile book

SCRIPT = "<script>alert(1)</script>"
BREAKOUT = '"\'><img src=x onerror=alert(1)><a href="javascript:alert(1)">'
HOSTILE = f"{SCRIPT} {BREAKOUT} &lt;b&gt; </mark></article></main> ]]> {{{{7*7}}}} \u202e"


@pytest.fixture
def hostile() -> Service:
    """A service whose book says bad things everywhere it can."""
    text = f"{HOSTILE}\n\nQuoted: {HOSTILE} to the end."
    document = one_page(f"page {BREAKOUT}", HOSTILE, text, anchor='x" onclick="alert(1)')
    quoted = text.split("\n\n")[1]
    start = len(text) - len(quoted)
    chunk = Chunk(
        "tales",
        document.document_id,
        0,
        quoted,
        HOSTILE,
        HOSTILE,
        (HOSTILE,),
        'x" onclick="alert(1)',
        "",
        start,
        len(text),
        9,
        (Unit("sentence", 0, len(quoted)),),
    )
    library = FakeLibrary({"tales": [document]})
    return fake_service(library=library, index=FakeIndex(hits=[Hit(chunk, 0.9, 0.9)]))


def hostile_pages(service: Service) -> Iterator[tuple[str, httpx.Response]]:
    document = service.answerer.ports.library.documents("tales")[0]
    page = f"/read/tales/{quote(document.document_id)}"
    start = document.blocks[1].start
    check = quote_check(document.text[start:])
    question = quote(f"What? {HOSTILE}")
    for path in (
        "/read/tales",
        page,
        f"{page}?mark={start}-{len(document.text)}-{check}",
        f"{page}?mark={quote(HOSTILE)}",
        f"/?q={question}",
        f"/?q=x&book={question}",
        f"/?q={question}&book={question}",
    ):
        yield path, call(service, "GET", path)


def test_a_hostile_book_and_question_are_escaped_on_every_page(hostile: Service) -> None:
    for path, reply in hostile_pages(hostile):
        tags = check_page(reply, own=("http://reader.test",))
        assert SCRIPT not in reply.text, path
        assert "<img" not in reply.text.lower(), path
        assert not any(name.startswith("on") for _, given in tags.tags for name in given), path
        assert not any("javascript:" in link for link in tags.links()), path


def test_a_hostile_text_is_shown_and_marked_whole(hostile: Service) -> None:
    document = hostile.answerer.ports.library.documents("tales")[0]
    replies = dict(hostile_pages(hostile))
    page = next(
        reply.text for path, reply in replies.items() if "?mark=2" in path or "?mark=1" in path
    )
    marked = re.search(r'<mark id="quote">(.*?)</mark>', page, flags=re.DOTALL)
    assert marked is not None
    assert html.unescape(marked.group(1)) == document.text.split("\n\n")[1]
    assert SCRIPT in "".join(Tags(page).words)


def test_a_hostile_quote_is_shown_with_a_link_that_opens(hostile: Service) -> None:
    reply = call(hostile, "GET", "/?q=anything")
    tags = check_page(reply, own=("http://reader.test",))
    assert "Quoted: " + HOSTILE in "".join(tags.words)
    link = next(link for link in tags.links() if "?mark=" in link)
    assert '<mark id="quote">' in call(hostile, "GET", link).text


def test_a_hostile_refusal_is_escaped(hostile: Service) -> None:
    index = hostile.answerer.ports.index
    assert isinstance(index, FakeIndex)
    index.hits = [Hit(index.hits[0].chunk, 0.0, 0.0)]
    tags = check_page(call(hostile, "GET", "/?q=anything"), own=("http://reader.test",))
    assert HOSTILE in "".join(tags.words)
    assert any(link.startswith("http://reader.test/read/tales/page") for link in tags.links())


def test_a_book_with_a_site_is_linked_by_its_own_address() -> None:
    document = one_page("tales", "Tales", "Tales\n\nThe heron waits at the river.")
    chunk = Chunk(
        "tales",
        "tales",
        0,
        "The heron waits at the river.",
        "Tales",
        "Tales",
        ("Tales",),
        "",
        "https://book.test/tales",
        7,
        36,
        9,
        (Unit("sentence", 0, 29),),
    )
    library = FakeLibrary({"tales": [document]})
    service = fake_service(library=library, index=FakeIndex(hits=[Hit(chunk, 0.9, 0.9)]))
    tags = check_page(call(service, "GET", "/?q=heron"), own=("https://book.test/",))
    assert "https://book.test/tales#:~:text=The%20heron%20waits%20at%20the%20river." in tags.links()
