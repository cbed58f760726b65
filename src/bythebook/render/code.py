"""Code -> the kinds of its words, for colours."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound

from bythebook.domain.books import Block
from bythebook.domain.marks import Mark

_MAX_CHARACTERS = 30_000  # of a block; longer ones stay black
_MAX_LINE = 2_000
_PLAIN = frozenset({"", "text", "plain", "plaintext", "none", "txt", "output", "w"})


@dataclass(frozen=True, slots=True)
class Word(Mark):
    """A run of code of one kind; never over a line end."""

    name: str  # as Pygments calls it in style sheets


@lru_cache(maxsize=1024)
def find_words(code: str, language: str) -> tuple[Word, ...]:
    """Find the words of code, with offsets from its start; none in a language that is not known."""
    lexer = _find_lexer(language.lower())
    is_long = len(code) > _MAX_CHARACTERS or max(map(len, code.split("\n"))) > _MAX_LINE
    if lexer is None or is_long:
        return ()
    return tuple(_split_lines(code, lexer))


def place_words(text: str, block: Block) -> list[Word]:
    """Find the words of a block of code, with offsets in its document's text."""
    words = find_words(text[block.start : block.end], block.language)
    return [word.move(word.start + block.start, word.end + block.start) for word in words]


@cache
def _find_lexer(language: str) -> Lexer | None:
    if language in _PLAIN:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _split_lines(code: str, lexer: Lexer) -> Iterator[Word]:
    for start, kind, words in lexer.get_tokens_unprocessed(code):
        while kind not in STANDARD_TYPES and kind is not Token:
            kind = kind.parent
        name = STANDARD_TYPES.get(kind, "")
        if name in _PLAIN or not words.strip():
            continue
        at = start
        for line in words.split("\n"):
            if line:
                yield Word(at, at + len(line), name)
            at += len(line) + 1
