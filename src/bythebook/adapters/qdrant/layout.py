"""The format of a generation on a Qdrant server: names, vectors, payload indexes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from qdrant_client import models

from bythebook.adapters.edge.shard import DENSE, WORDS
from bythebook.domain.books import Book

Quantisation = Literal["none", "scalar", "binary"]

_PREFIX = "bythebook"
# Candidates per hit: chosen by the quantized vectors, then scored by the full ones.
_OVERSAMPLING: Mapping[Quantisation, float] = {"scalar": 2.0, "binary": 4.0}
# Fields for filters: those of the contracts, and the place of a chunk for searches in a section.
_KEYWORDS = ("chapter", "section", "source_url", "content_hash", "document_id")
_INTEGERS = ("chunk_index", "page", "char_start", "char_end")


@dataclass(frozen=True, slots=True)
class QdrantLayout:
    """Settings for large libraries; they apply to new generations."""

    shards: int | None = None  # None: the server decides
    replicas: int = 1
    quantisation: Quantisation = "none"
    on_disk: bool = False  # vectors, payloads and their indexes, rather than in memory

    def collection(self, dimension: int) -> dict[str, Any]:
        """Return the arguments for the client's `create_collection`."""
        return {
            "vectors_config": {
                DENSE: models.VectorParams(
                    size=dimension, distance=models.Distance.COSINE, on_disk=self.on_disk
                )
            },
            "sparse_vectors_config": {
                WORDS: models.SparseVectorParams(
                    index=models.SparseIndexParams(on_disk=self.on_disk)
                )
            },
            "shard_number": self.shards,
            "replication_factor": self.replicas,
            "on_disk_payload": self.on_disk,
            "hnsw_config": models.HnswConfigDiff(on_disk=self.on_disk),
            "quantization_config": self._quantization_config(),
        }

    def payload_indexes(self) -> dict[str, models.PayloadSchemaParams]:
        """Return the index of each indexed field."""
        return {
            **{
                name: models.KeywordIndexParams(
                    type=models.KeywordIndexType.KEYWORD, on_disk=self.on_disk
                )
                for name in _KEYWORDS
            },
            **{
                name: models.IntegerIndexParams(
                    type=models.IntegerIndexType.INTEGER, on_disk=self.on_disk
                )
                for name in _INTEGERS
            },
            "text": models.TextIndexParams(
                type=models.TextIndexType.TEXT,
                tokenizer=models.TokenizerType.WORD,
                lowercase=True,
                on_disk=self.on_disk,
            ),
        }

    def search_params(self) -> models.SearchParams | None:
        """Have full vectors rescore quantized candidates, so that cosines are exact."""
        if self.quantisation == "none":
            return None
        rescoring = models.QuantizationSearchParams(
            rescore=True, oversampling=_OVERSAMPLING[self.quantisation]
        )
        return models.SearchParams(quantization=rescoring)

    def _quantization_config(self) -> models.QuantizationConfig | None:
        match self.quantisation:
            case "scalar":
                config = models.ScalarQuantizationConfig(
                    type=models.ScalarType.INT8, quantile=0.99, always_ram=True
                )
                return models.ScalarQuantization(scalar=config)
            case "binary":
                return models.BinaryQuantization(
                    binary=models.BinaryQuantizationConfig(always_ram=True)
                )
            case "none":
                return None


def collection_name(book_id: str, generation: str) -> str:
    """Name the collection of a generation; book ids contain no dot, so names are unique."""
    return f"{_PREFIX}.{book_id}.{generation}"


def book_collection_name(book: Book) -> str:
    """Name the collection of a book's current generation."""
    return collection_name(book.book_id, book.generation)


def alias_name(book_id: str) -> str:
    """Name the alias of a book's published generation."""
    return f"{_PREFIX}.{book_id}"
