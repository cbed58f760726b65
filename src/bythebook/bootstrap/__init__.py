"""Settings -> adapters -> core: the one place where concrete classes meet."""

from bythebook.bootstrap.core import Core, sample_book

__all__ = ["Core", "sample_book"]
