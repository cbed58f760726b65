"""Source files: whether they can be opened, where they are, and their bytes as text."""

from pathlib import Path

from bythebook.domain.books import Skipped
from bythebook.errors import UnreadableBook


def require_path(source: str) -> Path:
    """Return the path of a source that exists, or raise UnreadableBook."""
    path = Path(source)
    if not path.exists():
        raise UnreadableBook(
            f"There is nothing at {source}.", "Check the path, then run ingest again."
        )
    return path


def read_start(path: Path) -> bytes:
    """Read the first bytes of a file, which show its kind, or raise UnreadableBook."""
    try:
        with path.open("rb") as file:
            return file.read(1024)
    except OSError as error:
        raise make_open_error(path, error) from error


def make_open_error(path: Path | str, error: OSError) -> UnreadableBook:
    """Make the error for a file that the system does not open."""
    return UnreadableBook(f"{path} cannot be opened ({error.strerror}).", "Check its permissions.")


def is_inside(path: Path, folder: Path) -> bool:
    """Return True if a path is below a folder after its symlinks are resolved."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of symlinks, a name with a null byte
        return False


def is_file_inside(path: Path, folder: Path) -> bool:
    """Return True if a path is a regular file below a folder, even through symlinks."""
    return path.is_file() and is_inside(path, folder)


def decode_text(raw: bytes, name: str) -> str:
    """Decode bytes as UTF-8 with plain line ends, or raise UnreadableBook."""
    if b"\0" in raw:
        raise UnreadableBook(
            f"{name} is not text: it contains binary bytes.",
            "Remove it from the folder, or save it as UTF-8 text.",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableBook(
            f"{name} is not UTF-8 text (byte {error.start}).", "Save the file as UTF-8."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_storable(text: str) -> bool:
    """Return True if a text can be stored: file names and YAML may contain lone surrogates."""
    return text.isprintable() or replace_surrogates(text) == text


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which no file can store, by question marks."""
    return text.encode("utf-8", "replace").decode()


def skip_unreadable(name: str, error: UnreadableBook) -> Skipped:
    """Report a part of a book that cannot be read; the rest of the book still can."""
    return Skipped(replace_surrogates(name), f"{error.what} {error.help_message}")


def make_folder_url(base_url: str | None) -> str:
    """Return a base URL with exactly one slash at its end; empty if there is none."""
    return f"{base_url.rstrip('/')}/" if base_url else ""
