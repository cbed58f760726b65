"""Ingest with LlamaIndex into the vector store it uses by itself, in memory."""

from benchmarks.peers.measure import measure, read_arguments
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.embeddings.huggingface import (
    HuggingFaceEmbedding,
)

PACKAGES = ["llama-index-core", "sentence-transformers", "torch"]


def main() -> None:
    """Embed and index every text as a node of a `VectorStoreIndex`."""
    given = read_arguments()
    model = HuggingFaceEmbedding(
        model_name=str(given.model), device="cpu", embed_batch_size=given.batch
    )
    measure(
        given.texts,
        PACKAGES,
        lambda texts: VectorStoreIndex([TextNode(text=text) for text in texts], embed_model=model),
        lambda index, text: index.as_retriever(similarity_top_k=1).retrieve(text)[0].text,
    )


if __name__ == "__main__":
    main()
