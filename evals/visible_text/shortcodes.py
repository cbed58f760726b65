"""Replaces Hugo's shortcodes by the words that they show."""

import re
from collections.abc import Callable

_SHORTCODE = re.compile(r"\{\{([<%])\s*(/?)\s*([\w/_-]+)((?:\"[^\"]*\"|[^\"])*?)/?\s*[>%]\}\}")
_COMMENT = re.compile(
    r"\{\{[<%]\s*comment\s*[>%]\}\}.*?\{\{[<%]\s*/\s*comment\s*[>%]\}\}", re.DOTALL
)
_CODE = re.compile(
    r"(\{\{<\s*(?P<name>tab|highlight)\s[^>]*?(?:codelang=|(?<=highlight )(?!promql))[^>]*>\}\})"
    r"(.*?)\{\{<\s*/\s*(?P=name)\s*>\}\}",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|`([^`]*)`|(\S+))""")
_SHOWN = {
    "tab": ("name",),
    "glossary_tooltip": ("text",),
    "glossary_definition": ("prepend",),
    "feature-state": ("for_k8s_version", "state"),
    "figure": ("title", "caption"),
    "table": ("caption",),
    "details": ("summary",),
    "alert": ("title",),
    "pageinfo": ("title",),
    "link": ("text",),
    "tutorials/module": ("title",),
}
# The site's own words for `heading`, in its English strings.
_HEADINGS = {
    "whatsnext": "What's next",
    "prerequisites": "Before you begin",
    "objectives": "Objectives",
    "cleanup": "Cleaning up",
    "synopsis": "Synopsis",
    "options": "Options",
    "seealso": "See Also",
}
_FILE = re.compile(r'"([^"]+)"')

Include = Callable[[str], str]


def expand_shortcodes(text: str, include: Include) -> str:
    """Replace each shortcode by what it shows; some only the site can fill in."""

    def replace(match: re.Match[str]) -> str:
        _, closing, name, arguments = match.groups()
        if closing:
            return ""
        if name == "include":
            file = _FILE.search(arguments)
            return include(file.group(1)) if file else ""
        if name == "heading":
            return _HEADINGS.get(arguments.strip().strip('"'), "")
        if name == "glossary_tooltip" and "text=" not in arguments:
            arguments = arguments.replace("term_id=", "text=").replace("-", " ")
        given = {
            found.group(1): found.group(2) or found.group(3) or found.group(4) or ""
            for found in _ARGUMENT.finditer(arguments)
        }
        included = include(given["include"]) if "include" in given else ""
        words = " ".join(given.get(key, "") for key in _SHOWN.get(name, ()))
        return f"{words}\n\n{included}" if included else words

    fenced = _CODE.sub(r"\1\n\n````\n\3\n````\n", _COMMENT.sub("", text))
    return _SHORTCODE.sub(replace, fenced)
