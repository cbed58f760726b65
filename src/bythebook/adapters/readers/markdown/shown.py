"""What a reader of a Hugo site sees of each shortcode."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from bythebook.adapters.readers.markdown.front_matter import parted
from bythebook.adapters.readers.markdown.includes import DEEPEST, Budget, Included
from bythebook.adapters.readers.markdown.pages import SourceFile, spoken
from bythebook.adapters.readers.markdown.shortcodes import Shortcode, replace_shortcodes
from bythebook.errors import UnreadableBook

_NOTES = {
    name: f"{name.capitalize()}:"
    for name in ("note", "warning", "caution", "tip", "info", "important", "danger", "hint")
}
# Headings that the theme of the Kubernetes documentation names by a key.
_HEADINGS = {
    "whatsnext": "What's next",
    "prerequisites": "Before you begin",
    "cleanup": "Cleaning up",
    "seealso": "See also",
}
_CODE = frozenset({"highlight", "mermaid", "code", "codeblock", "math", "katex"})
_SAMPLES = frozenset({"code_sample", "codenew", "code", "readfile-code", "example", "code-sample"})
_INCLUDES = frozenset({"include", "readfile", "include-md", "snippet"})
_LABELS = ("title", "name", "summary", "header", "heading", "caption", "label")
_WORDS = re.compile(r"[^\W\d_]{2,}.*\s|^[A-Z][^\W\d_]+$")


@dataclass(slots=True)
class Site:
    """What pages may refer to: files, glossary terms and settings of the site."""

    root: Path  # the content in the site's language
    included: Included
    terms: Mapping[str, Path]
    params: Mapping[str, object]
    unknown: dict[str, int] = field(default_factory=dict)  # shortcodes whose text is the theme's


def shown_body(site: Site, file: SourceFile) -> str:
    """Give a page's body as its reader sees it, shortcodes replaced."""
    return _Shown(site, file, Budget(file)).body(file.body, (file.path,))


@dataclass(frozen=True, slots=True)
class _Shown:
    site: Site
    file: SourceFile
    budget: Budget

    def body(self, text: str, trail: tuple[Path, ...]) -> str:
        return replace_shortcodes(text, lambda code, inner: self._shown(code, inner, trail))

    def _shown(self, code: Shortcode, inner: str, trail: tuple[Path, ...]) -> str:
        if code.name == "comment":
            return ""
        if code.has_end:
            return inner if code.in_code else self._pair(code, inner, trail)
        if reader := _SINGLE.get(code.name):
            return reader(self, code)
        if code.name in _INCLUDES or (code.name == "tab" and code.word("include")):
            return self._include(code, trail)
        if code.name in _SAMPLES:
            return self._sample(code)
        return self._other(code)

    def _pair(self, code: Shortcode, inner: str, trail: tuple[Path, ...]) -> str:
        if code.name == "tab" and code.word("include"):
            return self._include(code, trail)
        if code.name in _CODE or code.word("codelang"):
            return _own(code, self._label(code)) + _fenced(code, inner)
        label = self._label(code)
        if not label and "\n" not in inner:
            return inner
        if not code.is_own_line:
            return f"**{label}** {inner.strip()}" if label else inner
        end = "" if inner.rsplit("\n", 1)[-1].strip() == "" else f"\n\n{code.indent}"
        return f"{_own(code, label)}{inner}{end}"

    def _label(self, code: Shortcode) -> str:
        if code.name == "tabs":  # its name is for scripts; only the tabs' own are seen
            return ""
        shown = next((code.named[name] for name in _LABELS if code.named.get(name)), "")
        return shown or _NOTES.get(code.name.lower(), "") or _first_words(code)

    def _include(self, code: Shortcode, trail: tuple[Path, ...]) -> str:
        name = code.word("include", "file") or code.first()
        label = _own(code, self._label(code)) if code.name == "tab" else ""
        path = self._found(name, ("", "includes"))
        if path is None or path in trail or len(trail) > DEEPEST:
            self.site.included.miss(name, self.file)
            return label
        try:
            _, text = parted(self.site.included.load(path) or "", path)
        except UnreadableBook:
            text = ""
        text = self.budget.spend(self.body(text.strip("\n"), (*trail, path)))
        return label + text.replace("\n", f"\n{code.indent}")

    def _sample(self, code: Shortcode) -> str:
        name = code.word("file") or code.first()
        path = self._found(name, ("examples", "", "../../static/examples"))
        text = self.site.included.load(path) if path else None
        if text is None:
            self.site.included.miss(name, self.file)
            return _own(code, name, mark="`")
        language = code.word("language", "lang") or Path(name).suffix.lstrip(".")
        return _own(code, name, mark="`") + _fence(code, language, self.budget.spend(text))

    def _found(self, name: str, folders: Sequence[str]) -> Path | None:
        """Find an included file beside the page or below the content."""
        places = [self.file.path.parent / name.lstrip("/")]
        places += [self.site.root / folder / name.lstrip("/") for folder in folders]
        return next((path for path in places if self.site.included.load(path) is not None), None)

    def _other(self, code: Shortcode) -> str:
        words = [code.named[name] for name in ("text", *_LABELS, "alt") if code.named.get(name)]
        words += [word for word in code.positional if _is_words(word)]
        if not words and not code.in_code:
            self.site.unknown[code.name] = self.site.unknown.get(code.name, 0) + 1
        target = code.word("url", "path", "href", "link")
        text = "; ".join(dict.fromkeys(words))
        return f"[{text}]({target})" if text and target and " " not in target else text

    def heading(self, code: Shortcode) -> str:
        name = code.first()
        return _HEADINGS.get(name, spoken(name))

    def tooltip(self, code: Shortcode) -> str:
        return code.word("text") or self._term_title(code.word("term_id") or code.first())

    def _term_title(self, term: str) -> str:
        if path := self.site.terms.get(term):
            front, _ = parted(self.site.included.load(path) or "", path)
            if title := front.get("title"):
                return str(title)
        return term.replace("-", " ")

    def definition(self, code: Shortcode) -> str:
        term = code.word("term_id") or code.first()
        path = self.site.terms.get(term)
        text = self.site.included.load(path) if path else None
        if path is None or text is None:
            self.site.included.miss(f"the glossary's {term}", self.file)
            return ""
        short, _, rest = parted(text, path)[1].partition("<!--more-->")
        chosen = {"short": short, "long": rest}.get(code.word("length"), f"{short}\n{rest}")
        opening = code.word("prepend")
        words = f"{opening} {chosen.strip()}" if opening else chosen.strip()
        words = self.budget.spend(self.body(words, (self.file.path, path)))
        return words.replace("\n", f"\n{code.indent}")

    def figure(self, code: Shortcode) -> str:
        shown = dict.fromkeys(code.word(name) for name in ("alt", "title", "caption", "attr"))
        alt = code.word("alt")
        texts = [f"![{text}](figure)" if text == alt else text for text in shown if text]
        return f"\n\n{code.indent}".join(texts)

    def state(self, code: Shortcode) -> str:
        version, state = code.word("for_k8s_version"), code.word("state")
        gate = code.word("feature_gate_name")
        known = f"Kubernetes {version} [{state}]" if version and state else version or state
        words = f"FEATURE STATE: {known or gate}" if known or gate else ""
        return words and _own(code, words) if code.is_own_line else words

    def param(self, code: Shortcode) -> str:
        value: object = self.file.front.get(code.first())
        for key in code.first().split(".") if value is None else ():
            step = value if isinstance(value, dict) else self.site.params
            value = step.get(key)
        if isinstance(value, str | int | float):
            return str(value)
        return f"[{code.first()}]"

    def skew(self, code: Shortcode) -> str:
        """Give a version that the site knows, else a word that says which: it may stand in code."""
        version = re.match(r"v?(\d+)\.(\d+)$", str(self.site.params.get("version", "")))
        name, *rest = (*code.positional, "")
        step = int(rest[0]) if re.fullmatch(r"[+-]?\d{1,4}", rest[0]) else 0
        if version and name in {"currentVersion", "currentVersionAddMinor"}:
            return f"{version.group(1)}.{int(version.group(2)) + step}"
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("AddMinor")).lower()
        return f"[{words}{step:+d}]" if step else f"[{words}]"

    def reference(self, code: Shortcode) -> str:
        return code.first() or code.word("path")

    def version_check(self, code: Shortcode) -> str:
        least = self.file.word("min-kubernetes-server-version")
        if least is None:
            return self._other(code)
        return f"Your Kubernetes server must be at or later than version {least}."


_SINGLE: Mapping[str, Callable[[_Shown, Shortcode], str]] = {
    "heading": _Shown.heading,
    "glossary_tooltip": _Shown.tooltip,
    "glossary_definition": _Shown.definition,
    "figure": _Shown.figure,
    "feature-state": _Shown.state,
    "param": _Shown.param,
    "skew": _Shown.skew,
    "ref": _Shown.reference,
    "relref": _Shown.reference,
    "version-check": _Shown.version_check,
}


def _own(code: Shortcode, words: str, mark: str = "**") -> str:
    """Give words as a paragraph of their own, as deep as the shortcode stands."""
    return f"\n{code.indent}{mark}{words}{mark}\n\n{code.indent}" if words else ""


def _is_words(argument: str) -> bool:
    return len(argument) < 300 and _WORDS.search(argument) is not None


def _first_words(code: Shortcode) -> str:
    if code.name in _CODE:
        return ""
    return next((word for word in code.positional if _is_words(word)), "")


def _fenced(code: Shortcode, inner: str) -> str:
    language = code.word("codelang", "lang", "language") or code.first()
    if "hl_inline=true" in " ".join((*code.positional, *code.named)):
        return f"`{inner.strip()}`"
    if not code.is_own_line:
        return f"`{inner}`"
    return _fence(code, code.name if code.name == "mermaid" else language, inner)


def _fence(code: Shortcode, language: str, text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    lines = dedent(text.strip("\n").rstrip()).split("\n")
    inside = "\n".join(f"{code.indent}{line}" for line in lines)
    return f"{mark}{language}\n{inside}\n{code.indent}{mark}\n{code.indent}"
