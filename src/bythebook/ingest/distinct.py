"""Chunks worth an entry of their own: what is said twice is indexed once."""

from collections.abc import Sequence

from bythebook.domain.books import Chunk, LeftOutReason

# A text of this length says the same under any heading; a shorter one ("Default: false") may not.
SPEAKS_FOR_ITSELF = 300


class Distinct:
    """Remembers the chunks of a book as they come, in reading order."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def sort(
        self, chunks: Sequence[Chunk]
    ) -> tuple[list[Chunk], list[tuple[Chunk, LeftOutReason]]]:
        """Part chunks into those to index, and those to leave out with the reason."""
        indexed: list[Chunk] = []
        left_out: list[tuple[Chunk, LeftOutReason]] = []
        for chunk in chunks:
            if reason := self._reason(chunk):
                left_out.append((chunk, reason))
            else:
                indexed.append(chunk)
        return indexed, left_out

    def _reason(self, chunk: Chunk) -> LeftOutReason | None:
        if not any(map(str.isalnum, chunk.text)):
            return "too short"
        heading = "" if len(chunk.text) >= SPEAKS_FOR_ITSELF else chunk.section
        keys = {(heading, " ".join(chunk.text.split())), (chunk.chunk_id, "")}
        if keys & self._seen:
            return "duplicate"
        self._seen |= keys
        return None
