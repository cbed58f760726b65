"""A retriever for LangChain: pip install 'bythebook[langchain]'."""

from bythebook.retrievers.passages import Passage, RetrievalOrder

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise ImportError("LangChain is not installed: pip install 'bythebook[langchain]'.") from error
from pydantic import SecretStr


class ByTheBookRetriever(BaseRetriever):
    """Retrieves verified quotes that answer a question; none where the book does not say.

    With `verified=False` it gives the nearest sections, which nothing has judged.
    """

    url: str
    key: SecretStr | None = None
    book: str | None = None
    top_k: int = 5
    verified: bool = True

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
    ) -> list[Document]:
        return [_document(one) for one in self._retrieval().get(query)]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
    ) -> list[Document]:
        return [_document(one) for one in await self._retrieval().aget(query)]

    def _retrieval(self) -> RetrievalOrder:
        key = self.key.get_secret_value() if self.key else None
        return RetrievalOrder(self.url, key, self.book, self.top_k, self.verified)


def _document(passage: Passage) -> Document:
    return Document(page_content=passage.text, metadata=passage.metadata)
