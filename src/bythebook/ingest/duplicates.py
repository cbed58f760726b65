"""Finds repeated chunks, so that each text is indexed once."""

from collections.abc import Sequence

from bythebook.domain.books import Chunk, LeftOutReason

# A longer text means the same under any heading; a shorter one ("Default: false") may not.
STANDALONE_LENGTH = 300


class DuplicateFilter:
    """Remembers the chunks of a book in reading order."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def split(
        self, chunks: Sequence[Chunk]
    ) -> tuple[list[Chunk], list[tuple[Chunk, LeftOutReason]]]:
        """Split chunks into those to index and those to leave out, with the reason."""
        indexed: list[Chunk] = []
        left_out: list[tuple[Chunk, LeftOutReason]] = []
        for chunk in chunks:
            if reason := self._find_reason(chunk):
                left_out.append((chunk, reason))
            else:
                indexed.append(chunk)
        return indexed, left_out

    def _find_reason(self, chunk: Chunk) -> LeftOutReason | None:
        if not any(map(str.isalnum, chunk.text)):
            return "too short"
        heading = "" if len(chunk.text) >= STANDALONE_LENGTH else chunk.section
        keys = {(heading, " ".join(chunk.text.split())), (chunk.chunk_id, "")}
        if keys & self._seen:
            return "duplicate"
        self._seen |= keys
        return None
