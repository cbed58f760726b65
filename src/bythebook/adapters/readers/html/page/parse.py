"""Parses HTML and XHTML bytes within bounds; expands no entities and fetches nothing."""

import codecs
import html.entities
import re

from lxml import etree
from lxml.etree import _Element as Element

from bythebook.errors import UnreadableBook

MAX_CHARACTERS = 16_000_000
# A tag or attribute of four bytes takes a hundred bytes or more as a tree node.
MAX_NODES = 600_000

_DECLARED_ENCODING = re.compile(
    rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE,
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_SELF_CLOSED = re.compile(
    r"""<([A-Za-z][\w:.-]*)((?:\s+[^<>"'\s/=]+(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'))?){0,100})\s*/>"""
)
# The parser takes quadratic time in the number of a tag's attributes.
_LONG_TAGS = (
    re.compile(r"<([A-Za-z][\w:.-]*+)((?:[^\"'<>]++|\"[^\"]*+\"|'[^']*+'){3,}+)"),
    re.compile(r"<([A-Za-z][\w:.-]*+)([^<>]{3000,}+)"),
)
_MAX_WORDS_IN_TAG = 1000
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# Characters that XML forbids in any form.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def parse_html(content: bytes | str, *, encoding: str | None = None) -> Element:
    """Parse a page as a browser would, even with broken markup."""
    return _parse_lenient(_prepare_text(content, encoding))


def parse_xhtml(content: bytes | str) -> Element:
    """Parse well-formed XHTML strictly and anything else as HTML; tag names have no namespaces."""
    text = _remove_declarations(_prepare_text(content, None))
    try:
        return _parse_strict(text)
    except etree.XMLSyntaxError:
        return _parse_lenient(_SELF_CLOSED.sub(_expand_self_closed, text))


def parse_xml(content: bytes) -> Element:
    """Parse a small XML file, or raise UnreadableBook."""
    try:
        return _parse_strict(_remove_declarations(_prepare_text(content, None)))
    except etree.XMLSyntaxError as error:
        raise UnreadableBook("Its XML is broken.", "Create the file again.") from error


def decode(content: bytes, encoding: str | None = None) -> str:
    """Decode by byte order mark, then the given encoding, then the declared one, then a fallback."""
    for mark, codec in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(codec, "replace")
    if content[:4] in (b"<\0?\0", b"\0<\0?"):
        return content.decode("utf-16-le" if content[0] else "utf-16-be", "replace")
    declared = _DECLARED_ENCODING.search(content, 0, 4096)
    named = [encoding, *(name.decode() for name in (declared.groups() if declared else ()) if name)]
    for name in filter(None, (*named, "utf-8")):
        try:
            if codecs.lookup(name).name not in {"utf-16", "utf-16-le", "utf-16-be"}:
                return content.decode(name)
        except (LookupError, ValueError):  # an unknown name, or bytes that do not fit it
            continue
    return content.decode("cp1252", "replace")


def check_size(text: str) -> None:
    """Refuse a page whose tree would take too much time and memory."""
    if text.count("<") - text.count("</") + text.count("=") > MAX_NODES:
        raise UnreadableBook("The page has too many elements.", "Split the page.")


def _prepare_text(content: bytes | str, encoding: str | None) -> str:
    if len(content) > MAX_CHARACTERS:
        raise UnreadableBook(
            f"The page has {len(content):,} bytes; the limit is {MAX_CHARACTERS:,}.",
            "Split the page.",
        )
    text = content if isinstance(content, str) else decode(content, encoding)
    check_size(text)
    text = _FORBIDDEN.sub("\ufffd", text)
    for tag in _LONG_TAGS:
        text = tag.sub(_limit_tag, text)
    return text


def _remove_declarations(text: str) -> str:
    """Remove declarations of entities; one that remains makes the XML invalid."""
    text = _XML_DECLARATION.sub("", text)
    at = text.find("<!DOCTYPE")
    declared = _DOCTYPE.match(text, at) if at >= 0 else None
    text = text[:at] + text[declared.end() :] if declared else text
    return text.replace("<!DOCTYPE", "<!")


def _parse_strict(text: str) -> Element:
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    root = etree.fromstring(_ENTITY.sub(_resolve_entity, text).encode(), parser)
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return root


def _parse_lenient(text: str) -> Element:
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring((text.strip() or "<html></html>").encode(), parser)
    except etree.LxmlError as error:
        raise UnreadableBook("It is not HTML.", "Save the page again.") from error
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise UnreadableBook(
            "Its elements are nested too deeply.", "Save the page with simpler markup."
        )
    if root is None:
        raise UnreadableBook("It is not HTML.", "Save the page again.")
    for element in root.iter(etree.Element):
        if isinstance(element.tag, str) and ":" in element.tag:
            element.tag = element.tag.rpartition(":")[2] or "span"
    return root


def _limit_tag(match: re.Match[str]) -> str:
    """Keep only the tag name if the tag contains more words than a person would write."""
    name, rest = match.groups()
    return (
        match.group()
        if len(rest.split(None, _MAX_WORDS_IN_TAG)) <= _MAX_WORDS_IN_TAG
        else f"<{name}"
    )


def _resolve_entity(match: re.Match[str]) -> str:
    """Replace a named entity by its character: XML knows five names, HTML two thousand."""
    name = match.group(1)
    if name in _XML_ENTITIES:
        return match.group()
    return html.escape(html.entities.html5.get(f"{name};", match.group()), quote=True)


def _expand_self_closed(match: re.Match[str]) -> str:
    name, attributes = match.groups()
    return match.group() if name.lower() in _VOID else f"<{name}{attributes}></{name}>"
