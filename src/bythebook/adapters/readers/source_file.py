"""A source on disk: that it is there, and that its bytes are text."""

from pathlib import Path

from bythebook.errors import UnreadableBook


def existing(source: str) -> Path:
    """Give the path of a source that is there."""
    path = Path(source)
    if not path.exists():
        raise UnreadableBook(
            f"There is nothing at {source}.", "Check the path, then run ingest again."
        )
    return path


def decoded(raw: bytes, name: str) -> str:
    """Read bytes as UTF-8 with plain line ends, or say why they cannot be."""
    if b"\0" in raw:
        raise UnreadableBook(
            f"{name} is not text: it holds binary bytes.",
            "Remove it from the folder, or save it as UTF-8 text.",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableBook(
            f"{name} is not UTF-8 text (byte {error.start}).", "Save the file as UTF-8."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
