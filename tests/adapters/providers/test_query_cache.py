"""Vectors of questions, kept for an hour, and the estimate of tokens."""

import asyncio
import gc
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

import bythebook
from bythebook.adapters.providers.query_cache import QueryCache
from bythebook.adapters.providers.token_estimate import estimate_tokens
from bythebook.bootstrap import sample_book
from bythebook.errors import EmbedderFailed
from bythebook.ports import Vector

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Embedding:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self) -> Vector:
        self.calls += 1
        await asyncio.sleep(0)
        return np.ones(3, np.float32)


async def test_models_do_not_share_vectors() -> None:
    cache, embed = QueryCache(), Embedding()
    await cache.get("one", "Why?", embed)
    await cache.get("other", "Why?", embed)
    await cache.get("one", "Why?", embed)
    assert embed.calls == 2


async def test_keeps_only_so_many_and_forgets_those_not_asked_for_longest() -> None:
    cache, embed = QueryCache(most=3), Embedding()
    for text in ("a", "b", "c", "a", "d"):
        await cache.get("one", text, embed)
    assert (len(cache), embed.calls) == (3, 4)
    await cache.get("one", "a", embed)
    assert embed.calls == 4
    await cache.get("one", "b", embed)
    assert embed.calls == 5


async def test_what_was_asked_is_not_kept() -> None:
    cache = QueryCache()
    await cache.get("one", "my secret question", Embedding())
    assert "secret" not in repr(vars(cache))


async def test_a_vector_that_many_hold_cannot_be_changed() -> None:
    vector = await QueryCache().get("one", "Why?", Embedding())
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 5


async def test_all_who_wait_learn_of_a_failure_and_nobody_else() -> None:
    cache = QueryCache()

    async def fail_later() -> Vector:
        await asyncio.sleep(0)
        raise EmbedderFailed("down")

    waiting = [asyncio.create_task(cache.get("one", "Why?", fail_later)) for _ in range(3)]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [EmbedderFailed] * 3
    left = asyncio.create_task(cache.get("one", "Why?", fail_later))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.sleep(0.01)
    del left
    gc.collect()  # "exception was never retrieved" would be a warning, and warnings are errors
    assert len(cache) == 0


def wordpieces(texts: list[str]) -> list[int]:
    folder = Path(bythebook.__file__).parent / "models" / "embedder"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [len(encoded.ids) for encoded in tokenizer.encode_batch(texts)]


def test_the_estimate_of_tokens_is_near_what_a_vocabulary_gives_for_the_sample_book() -> None:
    pages = [path.read_text() for path in sorted(sample_book().rglob("*.md"))]
    paragraphs = [part for page in pages for part in page.split("\n\n") if len(part) > 200]
    assert len(paragraphs) > 50
    counted = wordpieces(paragraphs)
    shares = [e / c for e, c in zip(estimate_tokens(paragraphs), counted, strict=True)]
    assert min(shares) > 0.75
    assert 1.0 < sum(estimate_tokens(paragraphs)) / sum(counted) < 1.35


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("机器人学习走路", 7),
        ("Привет, как дела?", 7),
        ("🤖🤖", 4),
        ("", 1),
        ("x = y[0:10] + 3.14159", 12),
    ],
)
def test_no_script_is_counted_far_too_low(text: str, least: int) -> None:
    assert least <= estimate_tokens([text])[0] <= 4 * least + 4
