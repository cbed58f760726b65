"""GET /search: the nearest sections at once, by the same admission and with the same links as answers."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from tests.conftest import SAMPLE
from tests.contracts.fakes import FakeEmbedder, FakeIndex, FakeKeys, FakeLibrary, call, fake_service
from tests.unit.fakes import make_chunk

from bythebook.domain.answers import Hit, Judgement
from bythebook.domain.books import Chunk
from bythebook.domain.records import QueryEntry
from bythebook.errors import EmbedderFailed, StoreFailed
from bythebook.evaluate.sets import load_questions
from bythebook.http.app import Service, create_app
from bythebook.operate.access.gate import RequestLimits
from bythebook.operate.journal import Journal

QUESTION = "How do ROS 2 nodes communicate?"
QUESTIONS = Path(__file__).parents[2] / "evals" / "sample-book.jsonl"


def search(client: httpx.Client, q: str, **more: Any) -> list[dict[str, str]]:
    reply = client.get("/search", params={"q": q, "book": SAMPLE, **more})
    assert reply.status_code == 200, reply.text
    found: list[dict[str, str]] = reply.json()["sections"]
    return found


def chunk_of(text: str, section: str = "Herons", **changes: Any) -> Chunk:
    """Make a chunk of the fake book, each line of it a sentence."""
    made = make_chunk(*text.split("\n"), book_id="tales", section=section)
    return replace(made, heading_path=("Tales", section), **changes)


def service_with(*chunks: Chunk, **parts: Any) -> Service:
    found = [Hit(chunk, 0.9 - place / 100, 0.5) for place, chunk in enumerate(chunks)]
    return fake_service(index=FakeIndex(hits=found), **parts)


# What is found


def test_the_sections_of_most_answers_are_among_those_found(client: httpx.Client) -> None:
    asked = [one for one in load_questions(QUESTIONS) if one.kind == "answered"][::5]
    missed = [
        one
        for one in asked
        if one.section not in {found["section"] for found in search(client, one.question)}
    ]
    assert len(asked) > 20
    assert len(missed) / len(asked) <= 0.2  # 0.15 of all: nothing is judged yet
    assert all(one.reworded for one in missed)  # in words that the section does not have


def test_each_section_stands_once_with_a_line_of_it(client: httpx.Client) -> None:
    for question in (QUESTION, "walking", "code of a publisher node", "What does URDF stand for?"):
        found = search(client, question, limit=20)
        assert len(found) > 5
        assert len({one["reader_url"].partition("?")[0] + one["section"] for one in found}) == len(
            found
        )
        for one in found:
            assert set(one) == {"chapter", "section", "url", "reader_url", "text"}
            assert 0 < len(one["text"]) <= 200
            assert "\n" not in one["text"]


def test_each_link_opens_the_book_with_the_lines_first_words_marked(client: httpx.Client) -> None:
    for one in search(client, QUESTION, limit=10):
        page = client.get(one["reader_url"]).text
        start, end, _ = urlsplit(one["reader_url"]).query.removeprefix("mark=").split("-")
        place = one["reader_url"].partition("?")[0]
        quoted = " ".join(client.get(f"{place}.txt").text[int(start) : int(end)].split())
        assert '<mark id="quote">' in page
        assert one["text"].startswith(quoted[:150])


def test_the_sentence_that_shares_the_rarer_words_is_chosen() -> None:
    chunk = chunk_of("Birds are many.\nA heron is a bird of rivers.\nBirds fly.")
    reply = call(service_with(chunk), "GET", "/search?q=which+birds+like+rivers")
    assert reply.json()["sections"][0]["text"] == "A heron is a bird of rivers. Birds fly."


def test_a_long_sentence_is_cut_between_words() -> None:
    words = "herons " + "wade slowly through the shallow water " * 9
    (found,) = call(service_with(chunk_of(words)), "GET", "/search?q=herons").json()["sections"]
    assert found["text"].endswith("…")
    assert words.startswith(found["text"].rstrip("…"))
    assert 180 < len(found["text"]) <= 200


def test_parts_of_one_section_are_found_once_by_the_best() -> None:
    chunks = [chunk_of(f"Herons number {n}.", chunk_index=n) for n in range(3)]
    other = chunk_of("Storks, too.", section="Storks")
    found = call(service_with(*chunks, other), "GET", "/search?q=herons").json()["sections"]
    assert [(one["section"], one["text"]) for one in found] == [
        ("Herons", "Herons number 0."),
        ("Storks", "Storks, too."),
    ]


def test_a_book_with_a_site_is_opened_there_and_also_on_our_page() -> None:
    chunk = chunk_of("The heron waits.", source_url="https://book.test/herons")
    (found,) = call(service_with(chunk), "GET", "/search?q=heron").json()["sections"]
    assert found["url"].startswith("https://book.test/herons#:~:text=The%20heron")
    assert found["reader_url"].startswith("http://reader.test/read/tales/")
    assert found["reader_url"].endswith("#quote")


def test_no_more_than_asked_for(client: httpx.Client) -> None:
    assert [len(search(client, QUESTION, limit=n)) for n in (1, 3, 20)] == [1, 3, 20]
    assert len(search(client, QUESTION)) == 5


def test_nothing_found_is_an_empty_list() -> None:
    reply = call(service_with(), "GET", "/search?q=herons")
    assert (reply.status_code, reply.json()) == (200, {"sections": []})


# What it does not do


class NoJudge:
    async def judge(self, question: str, passages: object) -> Judgement:
        raise AssertionError("a search judges nothing")


@dataclass
class NoLog:
    entries: int = 0

    async def log(self, *entries: QueryEntry) -> None:
        self.entries += len(entries)


def test_nothing_is_judged_and_nothing_is_logged() -> None:
    service = service_with(chunk_of("The heron waits."), judge=NoJudge())
    log = NoLog()
    service.answerer.journal = Journal(log, service.metrics)  # type: ignore[arg-type]

    async def ask() -> httpx.Response:
        app = create_app(service)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://reader.test"
        ) as client:
            reply = await client.get("/search?q=heron")
        await service.answerer.journal.settle(1)
        return reply

    assert asyncio.run(ask()).json()["sections"]
    assert log.entries == 0


# Failures


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("", "q"),
        ("q=", "q"),
        ("q=%20", "q"),
        ("q=%00", "q"),
        (f"q={'x' * 501}", "q"),
        ("q=x&limit=0", "limit"),
        ("q=x&limit=21", "limit"),
        ("q=x&limit=many", "limit"),
        ("q=x&book=%20", "book"),
        ("q=x&book=nothing", "book"),
        ("q=x&colour=red", "colour"),
    ],
)
def test_what_is_not_valid_is_named(query: str, named: str) -> None:
    reply = call(fake_service(), "GET", f"/search?{query}")
    assert reply.status_code == 422
    assert set(reply.json()) == {"error", "detail"}
    assert reply.json()["error"] == "validation_failed"
    assert reply.json()["detail"].startswith(f"{named}: ")


@pytest.mark.parametrize(
    ("service", "kind"),
    [
        (fake_service(embedder=FakeEmbedder(EmbedderFailed("secret"))), "embedder_unavailable"),
        (fake_service(index=FakeIndex(failure=StoreFailed("secret"))), "store_unavailable"),
        (fake_service(library=FakeLibrary({})), "store_unavailable"),
    ],
    ids=["embedder", "index", "no book"],
)
def test_a_part_that_fails_is_an_error_and_not_an_empty_list(service: Service, kind: str) -> None:
    reply = call(service, "GET", "/search?q=herons")
    assert reply.status_code == 503
    assert reply.json() == {
        "error": kind,
        "detail": "Unable to search the book. Please try again later.",
    }


def test_with_keys_it_needs_one_and_keeps_to_what_that_may_read() -> None:
    keys = FakeKeys()
    service = service_with(chunk_of("The heron waits."), keys=keys)
    secret, elsewhere = keys.add(), keys.add(books=("other",))
    refused = call(service, "GET", "/search?q=heron")
    assert (refused.status_code, refused.json()["error"]) == (401, "unauthorized")
    assert call(service, "GET", "/search?q=heron", key=secret).json()["sections"]
    assert call(service, "GET", "/search?q=heron&book=tales", key=elsewhere).status_code == 422


def test_it_counts_in_the_same_window_as_asking() -> None:
    service = service_with(chunk_of("The heron waits."), limits=RequestLimits(ip=2))
    first = call(service, "GET", "/search?q=heron")
    assert first.headers["X-RateLimit-Remaining"] == "1"
    assert call(service, "POST", "/ask", {"question": "heron?"}).status_code == 200
    reply = call(service, "GET", f"/search?q={quote(QUESTION)}")
    assert (reply.status_code, reply.json()["error"]) == (429, "rate_limited")
    assert int(reply.headers["Retry-After"]) > 0
