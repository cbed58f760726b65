"""Writes small PDFs by hand: text at places, an outline, page labels."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

FONTS = {
    "plain": "Helvetica",
    "bold": "Helvetica-Bold",
    "fixed": "Courier",
    "serif": "Times-Roman",
    "hebrew": "Times-Roman",  # whose letters from A on stand for alef to tav
}
LIGATURES = {"ﬁ": "\x01", "ﬂ": "\x02"}
OutlineItem = tuple[int, str, int, float | None]  # level, title, page from 0, height


@dataclass
class Page:
    """The drawing of one page."""

    drawing: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, size: float = 10, font: str = "plain") -> Self:
        """Draw words at a place."""
        name = f"F{list(FONTS).index(font)}"
        self.drawing.append(f"BT /{name} {size} Tf {x} {y} Td ({_escape(words)}) Tj ET")
        return self

    def lines(
        self, x: float, y: float, lines: Sequence[str], size: float = 10, font: str = "plain"
    ) -> Self:
        """Draw lines below each other."""
        for number, line in enumerate(lines):
            self.text(x, round(y - number * 1.2 * size, 2), line, size, font)
        return self


@dataclass
class PdfWriter:
    """A PDF in the making."""

    pages: list[Page] = field(default_factory=list)
    outline: list[OutlineItem] = field(default_factory=list)
    labels: str = ""  # the content of the Nums array
    title: str = ""

    def page(self) -> Page:
        """Begin a page."""
        self.pages.append(Page())
        return self.pages[-1]

    def save(self, path: Path) -> Path:
        """Write the file."""
        path.write_bytes(write_objects(self._objects()))
        return path

    def _objects(self) -> dict[int, bytes]:
        objects: dict[int, bytes] = {}
        first_font, first_page = 10, 20
        fonts = []
        for number, name in enumerate(FONTS.values()):
            objects[first_font + number] = (
                f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding"
                "<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[1/fi/fl]>>>>"
            ).encode()
            fonts.append(f"/F{number} {first_font + number} 0 R")
        objects[first_font + list(FONTS).index("hebrew")] = (
            b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/ToUnicode 9 0 R>>"
        )
        objects[9] = stream(_map_hebrew().encode())
        kids = []
        for number, page in enumerate(self.pages):
            place = first_page + 2 * number
            kids.append(f"{place} 0 R")
            objects[place] = (
                f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {place + 1} 0 R"
                f"/Resources<</Font<<{' '.join(fonts)}>>>>>>"
            ).encode()
            drawing = "\n".join(page.drawing).encode("cp1252", "replace")
            objects[place + 1] = stream(drawing)
        objects[2] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>".encode()
        extra = f"/PageLabels<</Nums[{self.labels}]>>" if self.labels else ""
        if self.outline:
            extra += "/Outlines 3 0 R"
            objects.update(self._outline(first_page, first_page + 2 * len(self.pages)))
        objects[1] = f"<</Type/Catalog/Pages 2 0 R{extra}>>".encode()
        objects[4] = f"<</Title({_escape(self.title)})>>".encode("cp1252")
        return objects

    def _outline(self, first_page: int, first: int) -> dict[int, bytes]:
        items = self.outline
        objects: dict[int, bytes] = {}
        tops = [number for number, item in enumerate(items) if item[0] == 0]
        objects[3] = f"<</First {first + tops[0]} 0 R/Last {first + tops[-1]} 0 R>>".encode()
        for number, (level, title, page, height) in enumerate(items):
            place = f"/XYZ 0 {height} 0" if height is not None else "/Fit"
            parts = [f"/Title({_escape(title)})/Dest[{first_page + 2 * page} 0 R {place}]"]
            following = _next_of_level(items, number, level)
            if following is not None:
                parts.append(f"/Next {first + following} 0 R")
            if number + 1 < len(items) and items[number + 1][0] > level:
                parts.append(f"/First {first + number + 1} 0 R/Last {first + number + 1} 0 R")
            objects[first + number] = f"<<{''.join(parts)}/Parent 3 0 R>>".encode("cp1252")
        return objects


def stream(content: bytes, entries: str = "") -> bytes:
    """Give a stream object, packed."""
    packed = zlib.compress(content)
    return (
        f"<</Length {len(packed)}/Filter/FlateDecode{entries}>>stream\n".encode()
        + packed
        + b"\nendstream"
    )


def write_objects(objects: dict[int, bytes], trailer: str = "") -> bytes:
    """Give a file of numbered objects, of which 1 is the catalogue."""
    written = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = {}
    for number, content in sorted(objects.items()):
        places[number] = len(written)
        written += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(written)
    written += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in places.items():
        written += f"{number} 1\n{place:010} 00000 n \n".encode()
    info = "/Info 4 0 R" if 4 in objects else ""
    size = max(objects) + 1
    written += (
        f"trailer\n<</Size {size}/Root 1 0 R{info}{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
    )
    return bytes(written)


def _next_of_level(items: Sequence[OutlineItem], number: int, level: int) -> int | None:
    for following in range(number + 1, len(items)):
        if items[following][0] < level:
            return None
        if items[following][0] == level:
            return following
    return None


def _escape(words: str) -> str:
    for ligature, code in LIGATURES.items():
        words = words.replace(ligature, code)
    return words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _map_hebrew() -> str:
    """Map codes of letters to Hebrew, as a font in a real book does."""
    letters = " ".join(f"<{65 + n:02x}> <{0x5D0 + n:04x}>" for n in range(27))
    space = "1 begincodespacerange <00> <ff> endcodespacerange"
    return f"begincmap /CMapName /H def {space} 27 beginbfchar {letters} endbfchar endcmap"
