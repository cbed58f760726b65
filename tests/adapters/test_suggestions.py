"""Suggested questions, found and asked by the real models."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.conftest import SAMPLE, free_port, serve_core

from bythebook.adapters.library.suggestion_files import SuggestionFiles
from bythebook.ask import collect
from bythebook.bootstrap import Core
from bythebook.domain.answers import Answered
from bythebook.domain.questions import Question, Scope
from bythebook.domain.suggestions import Suggestion
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings
from bythebook.suggest import SuggestPorts, suggest

WANTED = 10
MORE = "\n## Choosing a mill\n\nTo choose a mill, compare how much grain each mill grinds in an hour.\n"


@pytest.fixture(scope="module")
def suggested(sample_core: Core) -> tuple[Suggestion, ...]:
    return asyncio.run(suggest(SAMPLE, sample_core.suggest, wanted=WANTED))


def test_every_suggestion_is_answered_from_its_own_section(
    sample_core: Core, suggested: tuple[Suggestion, ...]
) -> None:
    assert len(suggested) == WANTED
    for one in suggested:
        outcome = asyncio.run(collect(Question(one.question, Scope(SAMPLE)), sample_core.ask))
        assert isinstance(outcome, Answered)
        key = next(sentence for sentence in outcome.sentences if sentence.key)
        assert one.document_id in {cited.passage.chunk.document_id for cited in key.citations}


def test_they_are_spread_readable_and_not_all_alike(suggested: tuple[Suggestion, ...]) -> None:
    assert max(Counter(one.document_id for one in suggested).values()) <= 3
    assert len({one.chapter for one in suggested}) >= 4
    assert sum(one.question.startswith("What is ") for one in suggested) <= 0.4 * WANTED
    assert all(one.question.endswith("?") and len(one.question) <= 90 for one in suggested)


def test_an_unchanged_book_takes_them_over_without_asking(
    sample_core: Core, suggested: tuple[Suggestion, ...]
) -> None:
    asked: list[int] = []
    again = suggest(
        SAMPLE, sample_core.suggest, suggested, wanted=WANTED, on_asked=lambda *_: asked.append(1)
    )
    assert asyncio.run(again) == suggested
    assert asked == []


def test_what_no_longer_stands_in_the_book_is_no_longer_suggested(
    sample_core: Core, suggested: tuple[Suggestion, ...]
) -> None:
    gone = replace(suggested[0], question="Where is the north mill?", digest="0" * 32)
    again = asyncio.run(suggest(SAMPLE, sample_core.suggest, (gone,), wanted=1))
    assert gone not in again


def test_a_language_model_is_never_asked(sample_core: Core) -> None:
    with pytest.raises(ValueError, match="never"):
        SuggestPorts(replace(sample_core.ask, model="some/model"))


def test_a_damaged_file_suggests_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sample_core: Core
) -> None:
    core = Core(Settings(data_dir=tmp_path))
    book = sample_core.library.book(SAMPLE)
    (core.library.root / SAMPLE).mkdir(parents=True)
    files = SuggestionFiles(core.library)
    assert files.of(book) == ()
    one = Suggestion("What is a mill?", "mills", "Mills", "Mills", "0" * 32)
    files.keep(book, [one])
    assert files.of(book) == (one,)
    assert files.of(replace(book, generation="another")) == ()
    (core.library.root / SAMPLE / "suggestions.json").write_text("{", "utf-8")
    assert files.of(book) == ()
    assert "damaged" in caplog.text


def test_the_service_suggests_what_is_near_the_open_page_first(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("mills", "pumps"):
        (source / f"{name}.md").write_text(f"# {name}\n\nAll about {name}.\n", "utf-8")
    core = Core(Settings(data_dir=tmp_path / "data", port=free_port()))
    asyncio.run(ingest(IngestOrder(str(source), "machines"), core.ingest, lambda _: None))
    book = core.library.book("machines")
    made = [
        Suggestion(f"What are {name} {n}?", name, name, name, "0" * 32)
        for name in ("mills", "pumps")
        for n in range(4)
    ]
    core.suggestions.keep(book, made)
    with serve_core(core) as server:

        def ask(**query: str) -> list[str]:
            reply = httpx.get(f"{server.url}/suggestions", params=query, timeout=60)
            return [one["question"] for one in reply.json()["suggestions"]]

        assert ask(document="pumps") == [f"What are pumps {n}?" for n in range(4)]
        assert {question.split()[2] for question in ask()} == {"mills", "pumps"}
        assert len(ask(book="machines", limit="24")) == 8
        assert httpx.get(f"{server.url}/suggestions?book=none", timeout=60).status_code == 422
        home = httpx.get(f"{server.url}/", timeout=60).text
        assert 'href="/?q=What+are+mills+0%3F&amp;book=machines"' in home
    core.close()
