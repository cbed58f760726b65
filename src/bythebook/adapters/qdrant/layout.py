"""How a generation lies on a Qdrant server: its names, its vectors, its payload indexes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from qdrant_client import models

from bythebook.adapters.edge_shard import DENSE, WORDS
from bythebook.domain.books import Book

Quantisation = Literal["none", "scalar", "binary"]

_PREFIX = "bythebook"
# Preselected by the small vectors for each hit wanted, then scored by the whole ones.
_OVERSAMPLING: Mapping[Quantisation, float] = {"scalar": 2.0, "binary": 4.0}
# What may be filtered by: the fields of the seeds, and where a chunk stands, for one section.
_KEYWORDS = ("chapter", "section", "source_url", "content_hash", "document_id")
_INTEGERS = ("chunk_index", "page", "char_start", "char_end")


@dataclass(frozen=True, slots=True)
class QdrantLayout:
    """What an operator of a large library may want otherwise; new generations are laid out so."""

    shards: int | None = None  # none: as the server decides
    replicas: int = 1
    quantisation: Quantisation = "none"
    on_disk: bool = False  # vectors, payloads and their indexes, rather than in memory

    def collection(self, dimension: int) -> dict[str, Any]:
        """Say how a collection is made, in the words of the client."""
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
            "quantization_config": self._quantised(),
        }

    def payload_indexes(self) -> dict[str, models.PayloadSchemaParams]:
        """Name the fields that are indexed, each with the kind of its index."""
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
        """Have whole vectors decide where small ones only preselect, so that cosines are true."""
        if self.quantisation == "none":
            return None
        rescoring = models.QuantizationSearchParams(
            rescore=True, oversampling=_OVERSAMPLING[self.quantisation]
        )
        return models.SearchParams(quantization=rescoring)

    def _quantised(self) -> models.QuantizationConfig | None:
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
    """Name the collection of a generation; no book's id has a dot, so that names are never mixed up."""
    return f"{_PREFIX}.{book_id}.{generation}"


def collection_of(book: Book) -> str:
    """Name the collection of a book's generation."""
    return collection_name(book.book_id, book.generation)


def alias_of(book_id: str) -> str:
    """Name what always leads to the published generation of a book."""
    return f"{_PREFIX}.{book_id}"
