"""The corruption suite on the sample book, without a model: corrupted drafts are caught, clean ones shown."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from evals.corruption import Row, RulesOnly, load_sample_cases, measure_book

from bythebook.bootstrap import Core
from bythebook.settings import Settings

SENTENCES = 120
LEAST_CAUGHT = 0.98
EXPECTED = {
    "number changed": "contradicted",
    "name swapped": "contradicted",
    "negation added or removed": "contradicted",
    "quote: a word replaced": "altered_quote",
    "quote: words left out": "altered_quote",
    "quote: stitched": "stitched",
    "quote: wrong passage named": "misattributed",
    "sentence and quote of another book": "fabricated",
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Row]]:
    core = Core(Settings(data_dir=Path(tmp_path_factory.mktemp("corruption"))))
    cases = load_sample_cases(core, SENTENCES, seed=1)
    half = len(cases) // 2
    yield asyncio.run(measure_book(cases[:half], cases[half:], RulesOnly(), seed=1))
    core.close()


def test_clean_sentences_are_shown_without_asking_the_judge(rows: Sequence[Row]) -> None:
    clean = [row for row in rows if row.name.startswith("clean")]
    assert [row.outcomes["shown"] / row.total for row in clean] == [1.0, 1.0, 1.0]


def test_corrupted_sentences_and_quotes_are_caught(rows: Sequence[Row]) -> None:
    corrupted = [row for row in rows if not row.name.startswith("clean")]
    assert len(corrupted) >= 10
    assert all(row.total for row in corrupted)
    low = {row.name: row.mistakes for row in corrupted if row.caught < LEAST_CAUGHT * row.total}
    lenient = {"qualifier added or removed", "order turned round"}  # the judge's, for the rest
    assert set(low) <= lenient
    assert all(row.caught >= 0.85 * row.total for row in corrupted)


def test_each_corruption_is_recognised_as_what_it_is(rows: Sequence[Row]) -> None:
    outcomes = {row.name: row.outcomes.most_common(1)[0] for row in rows if row.name in EXPECTED}
    assert {name: kind for name, (kind, _) in outcomes.items()} == EXPECTED
    assert all(outcomes[row.name][1] >= 0.9 * row.total for row in rows if row.name in EXPECTED)


def test_every_quote_that_is_shown_is_exact(rows: Sequence[Row]) -> None:
    assert sum(row.quotes for row in rows) > 0
    assert all(row.exact == row.quotes for row in rows)
