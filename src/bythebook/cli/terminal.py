"""How output looks in a terminal: calm, one accent, no banners."""

import io
import sys
from collections.abc import Iterable
from typing import NoReturn

from rich.console import Console
from rich.text import Text

from bythebook.errors import ByTheBookError

for _stream in (sys.stdout, sys.stderr):
    if isinstance(
        _stream, io.TextIOWrapper
    ):  # a character that the terminal cannot show must not stop a run
        _stream.reconfigure(errors="backslashreplace")
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def fail(error: ByTheBookError) -> NoReturn:
    """Print what went wrong and what to do, and exit with code 2."""
    err.print(Text.assemble(("Error: ", "bold red"), error.what))
    if error.help_message:
        err.print(Text(error.help_message))
    sys.exit(2)


def say_pieces(pieces: Iterable[Text]) -> None:
    """Print pieces of text one after the other, as they are."""
    out.print(Text.assemble(*pieces))


def say(text: str = "", style: str = "") -> None:
    """Print a line as it is, markup characters and all."""
    out.print(Text(text, style=style))
