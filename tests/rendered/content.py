"""Docusaurus Markdown -> the HTML of a page's content, for the web or for print."""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

Style = Literal["web", "print"]
Address = Callable[[str, str], str]  # a page's file and an anchor -> where it is found

_FENCE = re.compile(r"^(`{3,})")
_ADMONITION = re.compile(r"^:::(\w+)(?:\[(.*)\])?$")
_TAB = re.compile(r'^<TabItem value="([^"]+)" label="([^"]+)"')
_HEADING_ID = re.compile(r"\s*\{#([\w-]+)\}\s*$")
_MATH = re.compile(r"(<math[^>]*>)(.*)(</math>)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendering:
    """How a page is to be rendered, and where what it names is found."""

    file: str
    style: Style
    address: Address
    images: str
    lower_headings: int = 0  # levels that headings go down in a whole book
    anchors: str = ""  # put before every id, where all pages share one file


@dataclass(slots=True)
class Content:
    """A page's content, with its headings."""

    html: str
    headings: list[tuple[int, str, str]] = field(default_factory=list)  # level, anchor, text


def render(body: str, rendering: Rendering) -> Content:
    """Render a page."""
    source = "\n".join(_without_mdx(body.split("\n"), rendering.style))
    parser = MarkdownIt("commonmark", {"html": True, "xhtmlOut": True})
    parser.enable(["table", "strikethrough"]).use(dollarmath_plugin)
    tokens = parser.parse(source)
    content = Content("")
    _place(tokens, rendering, content)
    content.html = "".join(_html(parser, tokens, rendering))
    return content


def _without_mdx(lines: Sequence[str], style: Style) -> Iterator[str]:
    """Put HTML in the place of admonitions and tabs; Markdown inside of them stays Markdown."""
    fence = ""
    labels = [match.group(2) for line in lines if (match := _TAB.match(line))]
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1) == fence):
            fence = "" if fence else mark.group(1)
        if fence or line.strip() == "```":
            yield line
        elif not line.startswith("import "):
            yield _plain_html(line, labels, style)


def _plain_html(line: str, labels: Sequence[str], style: Style) -> str:
    if line == ":::":
        return "\n</div></div>\n"
    if match := _ADMONITION.match(line):
        kind, title = match.groups()
        return (
            f'\n<div class="theme-admonition theme-admonition-{kind} alert">'
            f'<div class="admonitionHeading">{escape(title or kind)}</div>'
            '<div class="admonitionContent">\n'
        )
    if line.startswith("<Tabs"):
        items = "".join(f'<li role="tab" class="tabs__item">{escape(name)}</li>' for name in labels)
        tabs = f'<ul role="tablist" class="tabs">{items}</ul>' if style == "web" else ""
        return f'\n<div class="tabs-container">{tabs}\n'
    if match := _TAB.match(line):
        if style == "print":
            return f"\n<div>\n<p>{escape(match.group(2))}</p>\n"
        hidden = "" if match.group(2) == labels[0] else ' hidden="hidden"'
        return f'\n<div role="tabpanel" class="tabItem"{hidden}>\n'
    return "\n</div>\n" if line in {"</TabItem>", "</Tabs>"} else line


def _place(tokens: Sequence[Token], rendering: Rendering, content: Content) -> None:
    """Give headings their anchors and levels, links and images their addresses."""
    for token, inline in zip(tokens, (*tokens[1:], Token("end", "", 0)), strict=True):
        if token.type == "heading_open":
            content.headings.append(_heading(token, inline, rendering))
        if token.type == "heading_close":
            token.tag = f"h{int(token.tag[1]) + rendering.lower_headings}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", _link(str(child.attrGet("href")), rendering))
            elif child.type == "image":
                name = posixpath.basename(str(child.attrGet("src")))
                child.attrSet("src", f"{rendering.images}/{name}")


def _heading(token: Token, inline: Token, rendering: Rendering) -> tuple[int, str, str]:
    mark = _HEADING_ID.search(inline.content)
    text = _HEADING_ID.sub("", inline.content)
    last = inline.children[-1] if inline.children else None
    if mark and last is not None:
        last.content = _HEADING_ID.sub("", last.content)
    slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    anchor = f"{rendering.anchors}{mark.group(1) if mark else slug}"
    level = int(token.tag[1]) + rendering.lower_headings
    token.tag = f"h{level}"
    token.attrSet("id", anchor)
    if rendering.style == "web":
        token.attrSet("class", "anchor anchorWithStickyNavbar")
    return level, anchor, re.sub(r"[`*]", "", text)


def _link(target: str, rendering: Rendering) -> str:
    path, _, anchor = target.partition("#")
    if ":" in path:
        return target
    folder = posixpath.dirname(rendering.file)
    file = posixpath.normpath(posixpath.join(folder, path)) if path else rendering.file
    return rendering.address(file, anchor)


def _html(parser: MarkdownIt, tokens: Sequence[Token], rendering: Rendering) -> Iterator[str]:
    anchor = ""
    for token in tokens:
        if token.type == "heading_open":
            anchor = str(token.attrGet("id"))
        if token.type == "heading_close" and rendering.style == "web":
            yield (
                f'<a href="#{anchor}" class="hash-link" aria-label="Direct link to this heading" '
                'title="Direct link to this heading">\u200b</a>'
            )
        if token.type == "math_block":
            yield f'<p class="math">{_formula(token.content, rendering.style, "block")}</p>\n'
        elif token.type == "fence":
            yield _code(token, rendering.style)
        elif token.type == "inline":
            yield _inline(parser, token, rendering.style)
        else:
            yield parser.renderer.render([token], parser.options, {})


def _inline(parser: MarkdownIt, token: Token, style: Style) -> str:
    for child in token.children or ():
        if child.type == "math_inline":
            child.type, child.content = "html_inline", _formula(child.content, style, "inline")
    return str(parser.renderer.render([token], parser.options, {}))


def _formula(source: str, style: Style, display: Literal["block", "inline"]) -> str:
    """Give MathML with its source; on the web as KaTeX does it, with glyphs for the eye next to it."""
    source = source.strip()
    opening, body, closing = _MATH.findall(convert(source, display=display))[0]
    note = f'<annotation encoding="application/x-tex">{escape(source)}</annotation>'
    formula = f"{opening}<semantics>{body}{note}</semantics>{closing}"
    if style == "print":
        return formula
    glyphs = re.sub(r"<[^>]*>", "", body)
    return (
        f'<span class="katex"><span class="katex-mathml">{formula}</span>'
        f'<span class="katex-html" aria-hidden="true">{glyphs}</span></span>'
    )


def _code(token: Token, style: Style) -> str:
    language, _, rest = token.info.partition(" ")
    title = re.search(r'title="([^"]*)"', rest)
    heading = f'<div class="codeBlockTitle">{escape(title.group(1))}</div>' if title else ""
    if style == "print":
        return f"{heading}<pre><code>{escape(token.content)}</code></pre>\n"
    lines = "".join(
        f'<span class="token-line"><span class="token plain">{escape(line)}</span><br/></span>'
        for line in token.content.rstrip("\n").split("\n")
    )
    return (
        f'<div class="language-{language} codeBlockContainer theme-code-block">{heading}'
        f'<div class="codeBlockContent"><pre tabindex="0" class="prism-code language-{language}">'
        f'<code class="codeBlockLines">{lines}</code></pre><div class="buttonGroup">'
        '<button type="button" aria-label="Copy code to clipboard">Copy</button></div></div></div>\n'
    )
