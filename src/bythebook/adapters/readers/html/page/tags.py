"""HTML tags that several readers treat alike."""

from bythebook.domain.marks import StyleKind

# Each starts and ends a line. Readers add the tags that only their input has.
BLOCK_TAGS = frozenset(
    """address article aside blockquote dd details div dl dt figcaption figure footer form h1 h2 h3
    h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr
    ul""".split()
)

INLINE_STYLES: dict[str, StyleKind] = {
    "em": "emphasis", "i": "emphasis", "cite": "emphasis", "dfn": "emphasis", "var": "emphasis",
    "strong": "strong", "b": "strong", "code": "code", "tt": "code", "samp": "code", "kbd": "keyboard",
    "sub": "subscript", "sup": "superscript", "del": "deleted", "s": "deleted", "strike": "deleted",
}  # fmt: skip
