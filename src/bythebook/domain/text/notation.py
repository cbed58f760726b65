r"""Notation of formulas -> words in one spelling, so that a search meets a passage however it is written.

Only what is searched is spelled so, passages and questions alike; what is quoted stays as it is.
The L1 norm may be written ℓ₁, $\ell_1$, L_{1} or L1: all become l1 or L1.
"""

import re
import unicodedata

# Raised and lowered figures, letters in the shapes of symbols, letters of formulas.
_SHAPED = re.compile("[²³¹⁰-₟ℂ-ⅎ\U0001d400-\U0001d7ff]+")
_GREEK = re.compile(r"(?<![\u0370-\u03ff])[\u0391-\u03c9](?![\u0370-\u03ff])")  # a letter alone
_FONT = re.compile(
    r"\\(?:math(?:bf|rm|it|sf|tt|cal|bb|frak|scr|normal)|boldsymbol|bm|text(?:bf|rm|it)?|operatorname\*?"
    r"|left|right|big[lr]?|Big[lr]?|displaystyle|d?frac|tfrac|quad|qquad|[,;:!])(?![A-Za-z])"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_BRACED_LETTER = re.compile(r"(?<![_^A-Za-z0-9}])\{\s*([A-Za-z])\s*\}")
_SCRIPT = re.compile(
    r"(?<![A-Za-z0-9_\\])([A-Za-z\u0391-\u03c9]|\\[A-Za-z]+) ?[_^]"
    r"(?:\{\s*([A-Za-z0-9](?:[, ]*[A-Za-z0-9]){0,5})\s*\}|([A-Za-z0-9]))(?![A-Za-z0-9_])"
)


def spell_notation(text: str) -> str:
    """Spell the notation in a text in one way; a text without any is returned as it is."""
    is_plain = text.isascii()
    if not is_plain:
        text = _SHAPED.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    if "\\" in text:
        text = _FONT.sub(" ", text).replace("\\ell", "l")
        text = _BRACED_LETTER.sub(r"\1", text)
    if "_" in text or "^" in text:
        text = _SCRIPT.sub(_join_script, text)
    if "\\" in text:
        text = _COMMAND.sub(r" \1", text)
    return text if is_plain else _GREEK.sub(_name_letter, text)


def _name_letter(found: re.Match[str]) -> str:
    name = unicodedata.name(found.group(), "")
    return name.rpartition(" ")[2].lower() if "LETTER" in name else found.group()


def _join_script(found: re.Match[str]) -> str:
    return found[1] + re.sub("[, ]", "", found[2] or found[3])
