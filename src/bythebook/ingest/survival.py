"""Counts how many recent citations still open in a generation that is about to be published."""

from collections import Counter
from collections.abc import Sequence

from bythebook.cite import OlderWords, WordRow, find_citation, find_in_place, read_citation_id
from bythebook.domain.books import Document, DocumentText, LiveBook, OlderGeneration
from bythebook.domain.reports import CitationSurvival
from bythebook.errors import RecordsFailed
from bythebook.ports import RecentCitations

_MOST = 500  # citations that are checked


async def find_recent_citations(
    book_id: str, live: LiveBook, recent: RecentCitations | None
) -> Sequence[str]:
    """Return the ids of what readers were shown of a book; none if the records cannot be read."""
    if recent is None or not live.chunk_ids:
        return ()
    try:
        return await recent.list_recent(book_id, _MOST)
    except RecordsFailed:
        return ()


def count_survivors(
    ids: Sequence[str], live: LiveBook, documents: Sequence[Document]
) -> CitationSurvival | None:
    """Open each citation in the new text; None if there are none."""
    cited = [one for one in map(read_citation_id, ids) if one is not None]
    if not cited:
        return None
    new = {one.document_id: one for one in documents}
    old = [cut.document for cut in live.documents.values()]
    changed = [
        _text(one)
        for one in old
        if one.document_id not in new or new[one.document_id].text != one.text
    ]
    before = OlderGeneration("live", "", frozenset(one.document_id for one in old), changed)
    now, then = WordRow(map(_text, documents)), [OlderWords(before)]
    found = (find_in_place(one, now) or find_citation(one, now, then) for one in cited)
    counts = Counter(one.status for one in found)
    return CitationSurvival(
        len(cited), counts["standing"], counts["moved"], counts["edited"], counts["gone"]
    )


def _text(document: Document) -> DocumentText:
    return DocumentText(document.document_id, document.title, document.text)
