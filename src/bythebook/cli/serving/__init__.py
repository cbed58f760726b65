"""`serve` and `demo`: the service as a process, or as several."""

from bythebook.cli.serving.command import demo, serve

__all__ = ["demo", "serve"]
