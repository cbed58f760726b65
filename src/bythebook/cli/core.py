"""The core during a command."""

from collections.abc import Iterator
from contextlib import contextmanager

from bythebook.bootstrap import Core
from bythebook.settings import load_settings


@contextmanager
def open_core() -> Iterator[Core]:
    """Build the core from the settings, and close it at the end."""
    core = Core(load_settings())
    try:
        yield core
    finally:
        core.close()
