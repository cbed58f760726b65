import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bythebook.adapters.models.inference import make_readable
from bythebook.adapters.models.minilm import BUNDLED, MiniLm
from bythebook.adapters.models.onnx_embedder import OnnxEmbedder

LONG = "The river carries sand to the sea and leaves it there. " * 60
MIXED = [
    "Why do rivers slow down near the sea?",
    LONG,
    "Sand.",
    "A delta grows where a river drops what it carries.",
    'fn main() { println!("{}", total); }',
    "",
    "A robot keeps its balance by moving its feet under its centre of mass.",
]


@pytest.fixture(scope="module")
def encoder() -> MiniLm:
    return MiniLm(threads=2)


def test_the_same_text_gives_the_same_vector(encoder: MiniLm) -> None:
    first, second = encoder.encode([MIXED[0]]), encoder.encode([MIXED[0]])
    assert np.array_equal(first, second)
    assert not np.array_equal(first, encoder.encode([MIXED[3]]))


def test_a_text_has_one_vector_whatever_its_neighbours(encoder: MiniLm) -> None:
    # Exactly equal: texts never share a batch, so not even quantisation may differ.
    alone = np.vstack([encoder.encode([text]) for text in MIXED])
    assert np.array_equal(encoder.encode(MIXED), alone)
    assert np.array_equal(encoder.encode(MIXED[::-1]), alone[::-1])


class NotingMiniLm(MiniLm):
    """Remembers which texts it had to encode."""

    def __init__(self, **options: Any) -> None:
        super().__init__(threads=2, **options)
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded.extend(texts)
        return super().encode(texts)


def test_what_is_recalled_is_what_would_be_encoded_and_is_encoded_once(encoder: MiniLm) -> None:
    noting = NotingMiniLm()
    vectors = noting.recall([*MIXED[:3], MIXED[0]])
    assert np.array_equal(vectors, encoder.encode([*MIXED[:3], MIXED[0]]))
    assert np.array_equal(noting.recall(MIXED[1:4]), encoder.encode(MIXED[1:4]))
    assert noting.encoded == MIXED[:4]


def test_only_the_vectors_that_were_used_last_are_kept() -> None:
    noting = NotingMiniLm(most_kept=2)
    noting.recall([MIXED[2], MIXED[3]])
    noting.recall([MIXED[0]])
    assert noting.encoded == [MIXED[2], MIXED[3], MIXED[0]]
    noting.recall([MIXED[3], MIXED[2], MIXED[0]])
    assert noting.encoded == [MIXED[2], MIXED[3], MIXED[0], MIXED[2]]


def test_any_number_of_threads_gives_the_same_vectors(encoder: MiniLm) -> None:
    for threads in (1, 3, 12):
        assert np.array_equal(MiniLm(threads=threads).encode(MIXED), encoder.encode(MIXED))


def test_paraphrases_are_nearer_than_unrelated_texts(encoder: MiniLm) -> None:
    question, paraphrase, unrelated = encoder.encode(
        [
            "How can a robot avoid falling over?",
            "What keeps a walking machine from tipping?",
            "The bakery sells bread until noon.",
        ]
    )
    assert question @ paraphrase > question @ unrelated + 0.3


def test_known_pairs_keep_the_likeness_of_the_original_model(encoder: MiniLm) -> None:
    # Expected: the fp32 model; int8 moved these by 0.015 and 0.005.
    cat, kitten, bond = encoder.encode(
        ["A cat sleeps on the sofa.", "A kitten naps on the couch.", "Bond yields rose in May."]
    )
    assert float(cat @ kitten) == pytest.approx(0.763, abs=0.03)
    assert float(cat @ bond) == pytest.approx(0.0, abs=0.03)


def test_vectors_are_float32_of_unit_length(encoder: MiniLm) -> None:
    vectors = encoder.encode(MIXED)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(MIXED), encoder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_vectors(encoder: MiniLm) -> None:
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.count_tokens([]) == []


def test_a_text_beyond_the_limit_is_cut_at_256_tokens(encoder: MiniLm) -> None:
    words = ["river"] * 254
    full = " ".join(words)
    assert encoder.count_tokens([full]) == [encoder.max_tokens - 2]
    vectors = encoder.encode([full, full + " volcano" * 50, " ".join([*words[:-1], "volcano"])])
    assert np.array_equal(vectors[0], vectors[1])
    assert not np.array_equal(vectors[0], vectors[2])


def test_a_short_text_reaches_the_model_between_its_two_special_tokens() -> None:
    seen: list[list[int]] = []

    class Recorder:
        def run(self, _names: list[str], feed: dict[str, NDArray[np.int64]]) -> list[object]:
            assert feed["attention_mask"].tolist() == np.ones_like(feed["input_ids"]).tolist()
            seen.extend(feed["input_ids"].tolist())
            return [np.zeros((1, 384), np.float32)]

    encoder = MiniLm(threads=1)
    encoder._session = Recorder()
    encoder.encode(["Sand.", ""])
    assert seen == [[101, 5472, 1012, 102], [101, 102]]


def test_an_empty_text_and_odd_characters_are_encoded(encoder: MiniLm) -> None:
    odd = ["", "   \n", "\x00\u200b", "lone \ud800 surrogate", "é" * 5000]
    assert np.isfinite(encoder.encode(odd)).all()
    assert encoder.count_tokens(odd)[:3] == [0, 0, 0]


def test_four_threads_get_their_own_vectors_at_once(encoder: MiniLm) -> None:
    orders = [np.random.default_rng(seed).permutation(len(MIXED)) for seed in range(16)]
    expected = encoder.encode(MIXED)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda order: encoder.encode([MIXED[i] for i in order]), orders)
        for order, vectors in zip(orders, found, strict=True):
            assert np.array_equal(vectors, expected[order])


def test_no_more_texts_are_read_at_once_than_there_are_threads() -> None:
    encoder = MiniLm(threads=2)
    run, lock = encoder._session.run, Lock()
    running, most = 0, 0

    class Counted:
        def run(self, *order: object) -> object:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            vectors = run(*order)
            with lock:
                running -= 1
            return vectors

    encoder._session = Counted()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(encoder.encode, [MIXED] * 8))
    assert most == 2


def test_a_failure_in_a_helper_thread_reaches_the_caller(encoder: MiniLm) -> None:
    for place in range(4):
        texts: list[str] = [LONG] * 4
        texts[place] = b"not text"  # type: ignore[call-overload]
        with pytest.raises((TypeError, AttributeError)):
            encoder.encode(texts)


def test_the_model_id_names_the_bundled_file() -> None:
    digest = hashlib.sha256((BUNDLED / "model.onnx").read_bytes()).hexdigest()
    assert MiniLm.model_id == f"all-MiniLM-L6-v2-tuned-int8@{digest[:8]}"
    assert digest in (BUNDLED / "README.md").read_text("utf-8")


def test_tokens_are_counted_as_word_pieces_without_cutting(encoder: MiniLm) -> None:
    texts = ["Sand.", "unaffable", "", LONG]
    assert encoder.count_tokens(texts) == [2, 3, 0, 60 * 12]


def test_the_embedder_answers_as_the_encoder_does(encoder: MiniLm) -> None:
    embedder = OnnxEmbedder(encoder)
    passages = asyncio.run(embedder.embed_passages(MIXED))
    query = asyncio.run(embedder.embed_query(MIXED[0]))
    assert np.array_equal(passages, encoder.encode(MIXED))
    assert np.array_equal(query, passages[0])
    assert embedder.count_tokens(MIXED) == encoder.count_tokens(MIXED)
    assert (embedder.model_id, embedder.dimension) == (encoder.model_id, 384)


def test_embedding_leaves_the_event_loop_free(encoder: MiniLm) -> None:
    async def beats_while_embedding() -> int:
        task = asyncio.create_task(OnnxEmbedder(encoder).embed_passages([LONG] * 8))
        beats = 0
        while not task.done():
            await asyncio.sleep(0.001)
            beats += 1
        return beats

    assert asyncio.run(beats_while_embedding()) > 10


def test_letters_in_the_shapes_of_formulas_are_read_as_letters(encoder: MiniLm) -> None:
    plain, shaped, other = encoder.encode(["the angle q", "the angle 𝑞", "the angle ∢"])
    assert np.array_equal(plain, shaped)
    assert not np.array_equal(plain, other)
    assert len(make_readable("𝑙₁ ﬁn ½ x\ud800")) == len("𝑙₁ ﬁn ½ x\ud800")
