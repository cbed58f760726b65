"""Our own elements of a parsed document, besides those of docutils."""

from collections.abc import Sequence

from docutils import nodes

from bythebook.domain.books import Link


class code(nodes.General, nodes.FixedTextElement):  # noqa: N801 - docutils names elements so
    """Code, with its language and caption."""


class crossing(nodes.Inline, nodes.TextElement):  # noqa: N801
    """Words that lead somewhere else in the book."""


class navigation(nodes.General, nodes.Element):  # noqa: N801
    """Words that only lead to other documents."""


def code_block(text: str, language: str = "", caption: str = "") -> code:
    """Make an element of code."""
    return code(text, text, language=language, caption=caption)


def crossing_to(text: str, link: Link | None) -> crossing:
    """Make an element of words that lead somewhere."""
    return crossing(text, text, link=link)


def navigation_words(words: Sequence[str], links: Sequence[Link] = ()) -> navigation:
    """Make an element of words that are left out, and of the links behind them."""
    return navigation("", words=words, links=links)
