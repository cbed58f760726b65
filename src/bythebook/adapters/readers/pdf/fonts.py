"""Reads the style of a font from its name and flags."""

import ctypes

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

BOLD = 1
MONOSPACED = 2

_BOLD_NAMES = ("bold", "black", "heavy", "demi", "cmbx", "cmssbx", "sfbx", "nimbusromno9l-medi")
_MONOSPACED_NAMES = (
    "cour", "mono", "nimbusmon", "monaco", "typewriter", "consol", "menlo", "cmtt", "cmsltt",
    "sftt", "ectt", "lmtt", "teletype", "fixed", "lettergothic", "sourcecode", "firacode",
    "cascadia", "andale",
)  # fmt: skip
_FIXED_PITCH = 1
_FORCE_BOLD = 1 << 18


def read_style(thing: pdfium.FPDF_PAGEOBJECT) -> int:
    """Return the style of a text object: bold, monospaced, both or neither."""
    font = pdfium.FPDFTextObj_GetFont(thing) if thing else None
    if not font:
        return 0
    buffer = ctypes.create_string_buffer(200)
    pdfium.FPDFFont_GetBaseFontName(font, buffer, len(buffer))
    name = buffer.value.decode("utf-8", "ignore").lower()
    flags = max(pdfium.FPDFFont_GetFlags(font), 0)
    bold = flags & _FORCE_BOLD or any(part in name for part in _BOLD_NAMES)
    fixed = flags & _FIXED_PITCH or any(part in name for part in _MONOSPACED_NAMES)
    return (BOLD if bold else 0) | (MONOSPACED if fixed else 0)
