"""A retriever for LlamaIndex: pip install 'bythebook[llama-index]'."""

from bythebook.retrievers.passages import Passage, RetrievalOrder

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise ImportError(
        "LlamaIndex is not installed: pip install 'bythebook[llama-index]'."
    ) from error


class ByTheBookRetriever(BaseRetriever):
    """Retrieves verified quotes that answer a question; none where the book does not say.

    With `verified=False` it gives the nearest sections, which nothing has judged.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        book: str | None = None,
        top_k: int = 5,
        verified: bool = True,
    ) -> None:
        self._retrieval = RetrievalOrder(url, key, book, top_k, verified)
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(one) for one in self._retrieval.get(query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(one) for one in await self._retrieval.aget(query_bundle.query_str)]


def _node(passage: Passage) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=passage.text, metadata=passage.metadata))
