import asyncio
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bythebook.adapters.models.minilm import MiniLm
from bythebook.adapters.models.onnx_embedder import OnnxEmbedder
from bythebook.bootstrap import Core
from bythebook.errors import EmbedderFailed
from bythebook.http.contracts.health import Health, examine
from bythebook.settings import Settings


class BrokenModel(MiniLm):
    def _encode_one(self, text: str, *, urgent: bool = False) -> NDArray[np.float32]:
        raise RuntimeError("out of memory")


def test_questions_and_passages_get_unit_vectors_of_one_length() -> None:
    embedder = OnnxEmbedder(MiniLm(threads=1))
    question = asyncio.run(embedder.embed_query("What is a gait?"))
    passages = asyncio.run(embedder.embed_passages(["A gait repeats.", "A run is a gait."]))
    assert (question.shape, passages.shape) == ((embedder.dimension,), (2, embedder.dimension))
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-3)


def test_a_model_that_breaks_is_a_failed_embedder() -> None:
    embedder = OnnxEmbedder(BrokenModel(threads=1))
    with pytest.raises(EmbedderFailed):
        asyncio.run(embedder.embed_query("What is a gait?"))
    with pytest.raises(EmbedderFailed):
        asyncio.run(embedder.embed_passages(["A gait repeats."]))


def test_health_names_a_broken_embedder_instead_of_breaking(tmp_path: Path) -> None:
    core = Core(Settings(data_dir=tmp_path))
    core.replace(encoder=BrokenModel(threads=1))

    async def run_examination() -> Health:
        service = core.service()
        try:
            return await examine(service.checks)
        finally:
            await service.close()

    health = asyncio.run(run_examination())
    assert health.dependencies["embedder"].status == "failed"
    assert health.status == "degraded"
