"""Node types that we add to those of docutils."""

from collections.abc import Sequence

from docutils import nodes

from bythebook.domain.books import Link


class code(nodes.General, nodes.FixedTextElement):  # noqa: N801 - the naming of docutils nodes
    """Code, with its language and caption."""


class cross_reference(nodes.Inline, nodes.TextElement):  # noqa: N801
    """Text that links to another place in the book."""


class navigation(nodes.General, nodes.Element):  # noqa: N801
    """Text that only links to other documents."""


def make_code(text: str, language: str = "", caption: str = "", lines: str = "") -> code:
    """Make a code node; `lines` names those that the author highlights."""
    return code(text, text, language=language, caption=caption, lines=lines)


def make_cross_reference(text: str, link: Link | None) -> cross_reference:
    """Make a cross-reference node."""
    return cross_reference(text, text, link=link)


def make_navigation(words: Sequence[str], links: Sequence[Link] = ()) -> navigation:
    """Make a node of text that is left out, with its links."""
    return navigation("", words=words, links=links)
