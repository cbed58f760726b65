"""The Embedder port on the bundled encoder."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.models.minilm import MiniLm
from bythebook.errors import EmbedderFailed

_Given = TypeVar("_Given")


class OnnxEmbedder:
    """Embeds questions and passages with the bundled model, off the event loop."""

    def __init__(self, encoder: MiniLm) -> None:
        self._encoder = encoder

    @property
    def model_id(self) -> str:
        """Name the model and its build; vectors of another id do not compare."""
        return self._encoder.model_id

    @property
    def dimension(self) -> int:
        """Return the length of every vector."""
        return self._encoder.dimension

    @property
    def usd_per_million_tokens(self) -> float:
        """Cost nothing: the model runs on this machine."""
        return 0.0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count each text in the model's own tokens, nothing cut."""
        return self._encoder.count_tokens(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        return await _off_the_loop(self._encoder.encode_query, text)

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per passage, in the order given."""
        return await _off_the_loop(self._encoder.encode, texts)


async def _off_the_loop(
    encode: Callable[[_Given], NDArray[np.float32]], given: _Given
) -> NDArray[np.float32]:
    try:
        return await asyncio.to_thread(encode, given)
    except Exception as error:  # ONNX Runtime raises many kinds of its own
        raise EmbedderFailed("The bundled embedder failed.", "Try again.") from error
