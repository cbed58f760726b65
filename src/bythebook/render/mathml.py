"""MathML that pages may show: presentation elements only, styles by class."""

import re
from functools import lru_cache
from html import escape

import nh3

_ELEMENTS = frozenset(
    """math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts
    mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none
    semantics""".split()
)
_ATTRIBUTES = frozenset(
    """accent accentunder class columnspan depth dir displaystyle fence form height largeop linethickness
    lspace mathsize mathvariant maxsize minsize movablelimits rowspan rspace scriptlevel separator stretchy
    symmetric voffset width""".split()
)
_STYLE = re.compile(r' style="([^"]*)"')
_CLASSES = (  # pages forbid style attributes; these are in the style sheet
    ("text-align: right", "m-right"),
    ("text-align: left", "m-left"),
    ("padding-left: 0", "m-close-left"),
    ("padding-right: 0", "m-close-right"),
    ("width: 100%", "m-wide"),
    ("border-left", "m-rule-left"),
    ("border-right", "m-rule-right"),
    ("border-top", "m-rule-top"),
    ("border-bottom", "m-rule-bottom"),
)
_MAX_CHARACTERS = 400_000
_CLEANER = nh3.Cleaner(
    tags=set(_ELEMENTS),
    clean_content_tags={"annotation", "annotation-xml", "script", "style"},
    attributes={name: set(_ATTRIBUTES) | {"display"} for name in _ELEMENTS},
    link_rel=None,
    strip_comments=True,
)


@lru_cache(maxsize=8192)
def clean_mathml(mathml: str, source: str, *, display: bool) -> str:
    """Return MathML without anything that could run or load; its source becomes a label."""
    if not mathml.startswith("<math") or len(mathml) > _MAX_CHARACTERS:
        return ""
    cleaned = _CLEANER.clean(_STYLE.sub(_use_classes, mathml))
    opening, bracket, rest = cleaned.partition(">")
    if not opening.startswith("<math") or not bracket or not rest.endswith("</math>"):
        return ""
    shape = "block" if display else "inline"
    return f'<math display="{shape}" alttext="{escape(source)}">{rest}'


def _use_classes(style: re.Match[str]) -> str:
    names = [name for words, name in _CLASSES if words in style.group(1)]
    return f' class="{" ".join(names)}"' if names else ""
