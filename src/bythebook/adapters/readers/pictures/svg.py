"""SVG drawings without anything that could run, load or expand."""

import re
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.parse import parse_xml
from bythebook.adapters.readers.pictures.types import UnusablePicture
from bythebook.errors import UnreadableBook

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_MAX_BYTES = 3_000_000
_MAX_EXPANDED = 200_000  # elements, after every `use` is replaced by what it repeats
_ELEMENTS = frozenset(
    """circle clipPath defs desc ellipse g image line linearGradient marker mask path pattern polygon polyline
    radialGradient rect stop style svg switch symbol text textPath title tspan use""".split()
)
_UNWRAPPED = frozenset({"a"})  # links become what they hold
_ATTRIBUTE = re.compile(r"(?!on)[a-zA-Z][\w-]*", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"url\(\s*['\"]?(?!\s*#)|@import|expression\s*\(|javascript:|\\", re.IGNORECASE
)
_BITMAP = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[\w+/=\s]*", re.IGNORECASE)
_LENGTH = re.compile(r"\s*([\d.]+)\s*(px|pt|mm|cm|in|em)?\s*")
_UNITS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "em": 16.0}


def clean_svg(content: bytes) -> tuple[bytes, int, int]:
    """Return a drawing that only draws, with its width and height, or raise UnusablePicture."""
    if len(content) > _MAX_BYTES:
        raise UnusablePicture(f"It is a drawing of more than {_MAX_BYTES // 1_000_000} MB.")
    try:
        source = parse_xml(content)
    except (UnreadableBook, RecursionError) as error:
        raise UnusablePicture("Its drawing cannot be parsed.") from error
    if source.tag != "svg":
        raise UnusablePicture("It is not a picture.")
    root = etree.Element(f"{{{_SVG}}}svg", nsmap={None: _SVG, "xlink": _XLINK[1:-5]})  # type: ignore[dict-item]
    _copy(source, root)
    _refuse_expansion(root)
    width, height = _measure(source)
    return etree.tostring(root, encoding="utf-8"), width, height


def _copy(source: Element, target: Element) -> None:
    """Copy what is allowed, without recursion."""
    stack = [(source, target)]
    while stack:
        old, new = stack.pop()
        _copy_attributes(old, new)
        for child in _list_children(old):
            made = etree.SubElement(new, f"{{{_SVG}}}{child.tag}")
            stack.append((child, made))
            made.tail = child.tail
        text = old.text or ""
        new.text = "" if old.tag == "style" and _OUTSIDE.search(text) else text


def _list_children(element: Element) -> Iterator[Element]:
    for child in element:
        if child.tag in _ELEMENTS:
            yield child
        elif child.tag in _UNWRAPPED:
            yield from (inner for inner in child if inner.tag in _ELEMENTS)


def _copy_attributes(old: Element, new: Element) -> None:
    for name, value in old.attrib.items():
        key, words = str(name), str(value)
        if key in {_XLINK, "href"}:
            if words.startswith("#") or (old.tag == "image" and _BITMAP.fullmatch(words)):
                new.set(_XLINK, words)
        elif _ATTRIBUTE.fullmatch(key) and not _OUTSIDE.search(words):
            new.set(key, words)


def _refuse_expansion(root: Element) -> None:
    """Refuse a drawing whose parts repeat each other without end, or nearly so."""
    named = {element.get("id"): element for element in root.iter() if element.get("id")}
    sizes: dict[str, int] = {}

    def measure(element: Element, above: tuple[str, ...]) -> int:
        total = 0
        for part in element.iter(f"{{{_SVG}}}*"):
            total += 1
            target = (part.get(_XLINK) or "").removeprefix("#")
            if not str(part.tag).endswith("}use") or target not in named:
                continue
            if target in above or len(above) > 20:
                raise UnusablePicture("Its drawing repeats itself without end.")
            if target not in sizes:
                sizes[target] = measure(named[target], (*above, target))
            total += sizes[target]
            if total > _MAX_EXPANDED:
                raise UnusablePicture("Its drawing repeats itself too often.")
        return total

    measure(root, ())


def _measure(source: Element) -> tuple[int, int]:
    """Return the size of a drawing in pixels; zeros if it has none."""
    given = [_LENGTH.fullmatch(source.get(name) or "") for name in ("width", "height")]
    try:
        if all(given):
            sides = [float(one.group(1)) * _UNITS[one.group(2) or ""] for one in given if one]
        else:
            box = re.findall(r"-?[\d.]+", source.get("viewBox") or "")
            sides = [float(side) for side in box[2:4]] if len(box) == 4 else []
        width, height = (round(side) for side in sides)
    except (ValueError, OverflowError):
        return 0, 0
    return (width, height) if 0 < width < 20_000 and 0 < height < 20_000 else (0, 0)
