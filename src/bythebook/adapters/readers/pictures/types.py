"""What a picture is by its bytes, and how large; its name does not matter."""

import struct
from dataclasses import dataclass


class UnusablePicture(Exception):
    """A picture that pages cannot show; the message says why."""


@dataclass(frozen=True, slots=True)
class PictureSize:
    """The type of a picture by its usual suffix, and its size in pixels."""

    suffix: str
    width: int
    height: int


def measure_picture(content: bytes) -> PictureSize | None:
    """Return the type and size of a bitmap; None for what may be a drawing, or raise UnusablePicture."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
            return PictureSize("png", *struct.unpack(">II", content[16:24]))
        if content[:6] in {b"GIF87a", b"GIF89a"}:
            return PictureSize("gif", *struct.unpack("<HH", content[6:10]))
        if content.startswith(b"\xff\xd8\xff"):
            return _measure_jpeg(content)
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return _measure_webp(content)
        if content[4:12] in {b"ftypavif", b"ftypavis"}:
            return _measure_avif(content)
    except (struct.error, IndexError) as error:
        raise UnusablePicture("Its file is broken.") from error
    if b"<svg" in content[:100_000]:
        return None
    raise UnusablePicture(
        "It is not a picture that browsers show (PNG, JPEG, GIF, WebP, AVIF, SVG)."
    )


def _measure_jpeg(content: bytes) -> PictureSize:
    at = 2
    while at + 9 < len(content):
        if content[at] != 0xFF:
            at += 1
            continue
        kind = content[at + 1]
        if 0xC0 <= kind <= 0xCF and kind not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return PictureSize("jpg", width, height)
        has_length = kind not in {0x00, 0x01, 0xFF} and not 0xD0 <= kind <= 0xD9
        at += 2 + (struct.unpack(">H", content[at + 2 : at + 4])[0] if has_length else 0)
    raise UnusablePicture("Its file is broken.")


def _measure_webp(content: bytes) -> PictureSize:
    kind = content[12:16]
    if kind == b"VP8X":
        width, height = (1 + int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
    elif kind == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    elif kind == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack("<HH", content[26:30]))
    else:
        raise UnusablePicture("Its file is broken.")
    return PictureSize("webp", width, height)


def _measure_avif(content: bytes) -> PictureSize:
    at = content.find(b"ispe", 0, 10_000)
    if at < 0:
        raise UnusablePicture("Its file is broken.")
    return PictureSize("avif", *struct.unpack(">II", content[at + 8 : at + 16]))
