"""Makes Markdown tokens for what other syntaxes write differently."""

from collections.abc import Iterable, Sequence
from html import escape

from markdown_it.token import Token


def make_text(text: str) -> list[Token]:
    """Make plain inline text."""
    return [Token("text", "", 0, content=text)] if text else []


def make_strong(children: Sequence[Token]) -> list[Token]:
    """Make inline markup strong."""
    return [Token("strong_open", "strong", 1), *children, Token("strong_close", "strong", -1)]


def make_emphasis(children: Sequence[Token]) -> list[Token]:
    """Emphasise inline markup."""
    return [Token("em_open", "em", 1), *children, Token("em_close", "em", -1)]


def make_link(target: str, children: Sequence[Token]) -> list[Token]:
    """Make a link; without a target only its text."""
    if not target:
        return list(children)
    opening = Token("link_open", "a", 1, attrs={"href": target})
    return [opening, *children, Token("link_close", "a", -1)]


def make_image(source: str, alt: str) -> Token:
    """Make a picture with its description."""
    attrs: dict[str, str | int | float] = {"src": source, "alt": ""}
    return Token("image", "img", 0, attrs=attrs, content=alt, children=make_text(alt))


def make_code_span(text: str) -> Token:
    """Make inline code."""
    return Token("code_inline", "code", 0, markup="`", content=text)


def make_inline(children: Sequence[Token]) -> Token:
    """Make the inline content of a block; its parts keep their text as content."""
    content = "".join(child.content for child in children)
    return Token("inline", "", 0, content=content, children=list(children), block=True)


def make_paragraph(children: Sequence[Token]) -> list[Token]:
    """Make a paragraph; nothing if it would be empty."""
    if not children:
        return []
    return _wrap("paragraph", "p", [make_inline(children)])


def make_heading(children: Sequence[Token], level: int, anchor: str = "") -> list[Token]:
    """Make a heading; an anchor is written as authors do."""
    mark = f" {{#{anchor}}}" if anchor else ""
    inline = make_inline([*children, *make_text(mark)])
    return _wrap("heading", f"h{level}", [inline])


def make_list(items: Sequence[Sequence[Token]], *, ordered: bool = False) -> list[Token]:
    """Make a list of items, each of block tokens."""
    inner = [
        token for item in items for token in _wrap("list_item", "li", shift_levels(item, 1)) if item
    ]
    if not inner:
        return []
    return _wrap(
        "ordered_list" if ordered else "bullet_list", "ol" if ordered else "ul", shift_levels(inner)
    )


def make_table(rows: Sequence[Sequence[Sequence[Token]]]) -> list[Token]:
    """Make a table of rows of cells of inline markup."""
    inner: list[Token] = []
    for row in rows:
        cells = [token for cell in row for token in _wrap("td", "td", [make_inline(cell)])]
        inner.extend(_wrap("tr", "tr", cells))
    return _wrap("table", "table", inner) if inner else []


def make_code(text: str, language: str = "", title: str = "") -> Token:
    """Make a block of code."""
    shown = f' title="{title.replace(chr(34), chr(39))}"' if title else ""
    return Token("fence", "code", 0, info=f"{language}{shown}", content=text, block=True)


def make_formula(text: str) -> Token:
    """Make a displayed formula."""
    return Token("math_block", "math", 0, content=text.strip(), markup="$$", block=True)


def make_anchor_mark(name: str) -> Token:
    """Make a place that links may lead to."""
    content = f'<a id="{escape(name)}"></a>'
    return Token("html_block", "", 0, content=content, block=True)


def make_admonition(kind: str, title: Sequence[Token], inner: Sequence[Token]) -> list[Token]:
    """Make a box with a title; the walker reads what is inside it."""
    opening = Token("admonition_open", "div", 1, info=kind, block=True)
    closing = Token("admonition_close", "div", -1, info=kind, block=True)
    shown = make_paragraph(make_strong(title)) if title else []
    return [opening, *shift_levels([*shown, *inner]), closing]


def shift_levels(tokens: Iterable[Token], by: int = 1) -> list[Token]:
    """Move tokens to a deeper level."""
    return [token.copy(level=token.level + by) for token in tokens]


def demote_headings(tokens: Sequence[Token]) -> list[Token]:
    """Turn headings into strong paragraphs: inside a box they start no section."""
    found: list[Token] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            found.append(token.copy(type="paragraph_open", tag="p"))
        elif token.type == "heading_close":
            found.append(token.copy(type="paragraph_close", tag="p"))
        elif place and tokens[place - 1].type == "heading_open":
            found.append(token.copy(children=make_strong(token.children or ())))
        else:
            found.append(token)
    return found


def drop_doubled_heading(tokens: Sequence[Token]) -> list[Token]:
    """Remove a second heading directly below the first that says the same."""
    types = [token.type for token in tokens[:6]]
    one = ["heading_open", "inline", "heading_close"]
    if types == one * 2 and tokens[1].content.strip() == tokens[4].content.strip():
        return [*tokens[:3], *tokens[6:]]
    return list(tokens)


def _wrap(name: str, tag: str, inner: Sequence[Token]) -> list[Token]:
    opening = Token(f"{name}_open", tag, 1, block=True)
    closing = Token(f"{name}_close", tag, -1, block=True)
    return [opening, *shift_levels(inner), closing]
