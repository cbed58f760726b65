"""Where a running service of this data folder can be reached, for links that commands print.

A service keeps a file locked for as long as it runs, so that what a killed one left is known as such.
"""

import fcntl
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SUFFIX = ".url"


class ServiceAddress:
    """The addresses of the services that serve a data folder now."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "serving"

    @contextmanager
    def announce(self, url: str) -> Iterator[None]:
        """Have the address found by others for as long as this lasts."""
        self._folder.mkdir(parents=True, exist_ok=True)
        place = self._folder / f"{uuid.uuid4().hex}{_SUFFIX}"
        hidden = place.with_suffix(".new")
        with hidden.open("w", encoding="utf-8") as file:
            fcntl.flock(
                file, fcntl.LOCK_EX
            )  # before it is seen: unlocked it is taken for a dead one's
            file.write(url)
            file.flush()
            hidden.rename(place)
            try:
                yield
            finally:
                place.unlink(missing_ok=True)

    def find(self) -> str | None:
        """Give the address of the service that started last; none if none runs."""
        found = [
            (started, url)
            for path in self._folder.glob(f"*{_SUFFIX}")
            for started, url in _live(path)
        ]
        return max(found)[1] if found else None


def _live(path: Path) -> Iterator[tuple[float, str]]:
    """Read a file if its service runs; remove it if it does not."""
    with suppress(FileNotFoundError), path.open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            yield path.stat().st_mtime, file.read()
        else:
            path.unlink(missing_ok=True)
