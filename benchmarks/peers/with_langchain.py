"""Ingest with LangChain into its FAISS store."""

from benchmarks.peers.measure import measure, read_arguments
from langchain_community.vectorstores import FAISS  # type: ignore[import-not-found]
from langchain_huggingface import HuggingFaceEmbeddings  # type: ignore[import-not-found]

PACKAGES = ["langchain-community", "faiss-cpu", "sentence-transformers", "torch"]


def main() -> None:
    """Embed and index every text by `FAISS.from_texts`."""
    given = read_arguments()
    model = HuggingFaceEmbeddings(
        model_name=str(given.model),
        model_kwargs={"device": "cpu"},
        encode_kwargs={"batch_size": given.batch, "normalize_embeddings": True},
    )
    measure(
        given.texts,
        PACKAGES,
        lambda texts: FAISS.from_texts(list(texts), model),
        lambda store, text: store.similarity_search(text, k=1)[0].page_content,
    )


if __name__ == "__main__":
    main()
