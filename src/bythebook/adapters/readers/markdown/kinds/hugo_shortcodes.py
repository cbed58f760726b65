"""Renders Hugo shortcodes as a reader of the site sees them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from bythebook.adapters.readers.markdown.kinds.includes import (
    MAX_DEPTH,
    IncludeBudget,
    IncludedFiles,
)
from bythebook.adapters.readers.markdown.kinds.shortcodes import Shortcode, replace_shortcodes
from bythebook.adapters.readers.markdown.pages import SourceFile, make_title
from bythebook.adapters.readers.markdown.syntax.front_matter import split_front_matter
from bythebook.errors import UnreadableBook

_NOTES = {
    name: f"{name.capitalize()}:"
    for name in ("note", "warning", "caution", "tip", "info", "important", "danger", "hint")
}
# Headings that the theme of the Kubernetes documentation identifies by a key.
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
class HugoSite:
    """Everything that pages may refer to: files, glossary terms and settings of the site."""

    root: Path  # the content in the site's language
    included: IncludedFiles
    terms: Mapping[str, Path]
    params: Mapping[str, object]
    # Counts of shortcodes that only the theme can render.
    unknown: dict[str, int] = field(default_factory=dict)


def replace_hugo_shortcodes(site: HugoSite, file: SourceFile) -> str:
    """Return a page's body with its shortcodes replaced by what a reader sees."""
    return _ShortcodeRenderer(site, file, IncludeBudget(file)).render_text(file.body, (file.path,))


@dataclass(frozen=True, slots=True)
class _ShortcodeRenderer:
    site: HugoSite
    file: SourceFile
    budget: IncludeBudget

    def render_text(self, text: str, trail: tuple[Path, ...]) -> str:
        return replace_shortcodes(text, lambda code, inner: self._render(code, inner, trail))

    def _render(self, code: Shortcode, inner: str, trail: tuple[Path, ...]) -> str:
        if code.name == "comment":
            return ""
        if code.has_end:
            return inner if code.in_code else self._render_pair(code, inner, trail)
        if reader := _SINGLE.get(code.name):
            return reader(self, code)
        if code.name in _INCLUDES or (code.name == "tab" and code.get_argument("include")):
            return self._render_include(code, trail)
        if code.name in _SAMPLES:
            return self._render_sample(code)
        return self._render_unknown(code)

    def _render_pair(self, code: Shortcode, inner: str, trail: tuple[Path, ...]) -> str:
        if code.name == "tab" and code.get_argument("include"):
            return self._render_include(code, trail)
        if code.name in _CODE or code.get_argument("codelang"):
            return _make_paragraph(code, self._find_label(code)) + _render_code(code, inner)
        label = self._find_label(code)
        if not label and "\n" not in inner:
            return inner
        if not code.is_own_line:
            return f"**{label}** {inner.strip()}" if label else inner
        end = "" if inner.rsplit("\n", 1)[-1].strip() == "" else f"\n\n{code.indent}"
        return f"{_make_paragraph(code, label)}{inner}{end}"

    def _find_label(self, code: Shortcode) -> str:
        if code.name == "tabs":  # its name is for scripts; only the names of the tabs are visible
            return ""
        shown = next((code.named[name] for name in _LABELS if code.named.get(name)), "")
        return shown or _NOTES.get(code.name.lower(), "") or _find_first_words(code)

    def _render_include(self, code: Shortcode, trail: tuple[Path, ...]) -> str:
        name = code.get_argument("include", "file") or code.get_first_argument()
        label = _make_paragraph(code, self._find_label(code)) if code.name == "tab" else ""
        path = self._find_file(name, ("", "includes"))
        if path is None or path in trail or len(trail) > MAX_DEPTH:
            self.site.included.record_missing(name, self.file)
            return label
        try:
            _, text = split_front_matter(self.site.included.load(path) or "", path)
        except UnreadableBook:
            text = ""
        text = self.budget.spend(self.render_text(text.strip("\n"), (*trail, path)))
        return label + text.replace("\n", f"\n{code.indent}")

    def _render_sample(self, code: Shortcode) -> str:
        name = code.get_argument("file") or code.get_first_argument()
        path = self._find_file(name, ("examples", "", "../../static/examples"))
        text = self.site.included.load(path) if path else None
        if text is None:
            self.site.included.record_missing(name, self.file)
            return _make_paragraph(code, name, mark="`")
        language = code.get_argument("language", "lang") or Path(name).suffix.lstrip(".")
        return _make_paragraph(code, name, mark="`") + _make_fence(
            code, language, self.budget.spend(text)
        )

    def _find_file(self, name: str, folders: Sequence[str]) -> Path | None:
        """Find an included file next to the page or below the content folder."""
        places = [self.file.path.parent / name.lstrip("/")]
        places += [self.site.root / folder / name.lstrip("/") for folder in folders]
        return next((path for path in places if self.site.included.load(path) is not None), None)

    def _render_unknown(self, code: Shortcode) -> str:
        words = [code.named[name] for name in ("text", *_LABELS, "alt") if code.named.get(name)]
        words += [word for word in code.positional if _is_words(word)]
        if not words and not code.in_code:
            self.site.unknown[code.name] = self.site.unknown.get(code.name, 0) + 1
        target = code.get_argument("url", "path", "href", "link")
        text = "; ".join(dict.fromkeys(words))
        return f"[{text}]({target})" if text and target and " " not in target else text

    def render_heading(self, code: Shortcode) -> str:
        name = code.get_first_argument()
        return _HEADINGS.get(name, make_title(name))

    def render_tooltip(self, code: Shortcode) -> str:
        return code.get_argument("text") or self._find_term_title(
            code.get_argument("term_id") or code.get_first_argument()
        )

    def _find_term_title(self, term: str) -> str:
        if path := self.site.terms.get(term):
            front, _ = split_front_matter(self.site.included.load(path) or "", path)
            if title := front.get("title"):
                return str(title)
        return term.replace("-", " ")

    def render_definition(self, code: Shortcode) -> str:
        term = code.get_argument("term_id") or code.get_first_argument()
        path = self.site.terms.get(term)
        text = self.site.included.load(path) if path else None
        if path is None or text is None:
            self.site.included.record_missing(f"the glossary's {term}", self.file)
            return ""
        short, _, rest = split_front_matter(text, path)[1].partition("<!--more-->")
        chosen = {"short": short, "long": rest}.get(code.get_argument("length"), f"{short}\n{rest}")
        opening = code.get_argument("prepend")
        words = f"{opening} {chosen.strip()}" if opening else chosen.strip()
        words = self.budget.spend(self.render_text(words, (self.file.path, path)))
        return words.replace("\n", f"\n{code.indent}")

    def render_figure(self, code: Shortcode) -> str:
        shown = dict.fromkeys(
            code.get_argument(name) for name in ("alt", "title", "caption", "attr")
        )
        alt = code.get_argument("alt")
        texts = [f"![{text}](figure)" if text == alt else text for text in shown if text]
        return f"\n\n{code.indent}".join(texts)

    def render_feature_state(self, code: Shortcode) -> str:
        version, state = code.get_argument("for_k8s_version"), code.get_argument("state")
        gate = code.get_argument("feature_gate_name")
        known = f"Kubernetes {version} [{state}]" if version and state else version or state
        words = f"FEATURE STATE: {known or gate}" if known or gate else ""
        return words and _make_paragraph(code, words) if code.is_own_line else words

    def render_param(self, code: Shortcode) -> str:
        value: object = self.file.front.get(code.get_first_argument())
        for key in code.get_first_argument().split(".") if value is None else ():
            step = value if isinstance(value, dict) else self.site.params
            value = step.get(key)
        if isinstance(value, str | int | float):
            return str(value)
        return f"[{code.get_first_argument()}]"

    def render_version(self, code: Shortcode) -> str:
        """Return a version that the site defines, otherwise a placeholder that also works inside code."""
        version = re.match(r"v?(\d+)\.(\d+)$", str(self.site.params.get("version", "")))
        name, *rest = (*code.positional, "")
        step = int(rest[0]) if re.fullmatch(r"[+-]?\d{1,4}", rest[0]) else 0
        if version and name in {"currentVersion", "currentVersionAddMinor"}:
            return f"{version.group(1)}.{int(version.group(2)) + step}"
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("AddMinor")).lower()
        return f"[{words}{step:+d}]" if step else f"[{words}]"

    def render_reference(self, code: Shortcode) -> str:
        return code.get_first_argument() or code.get_argument("path")

    def render_version_check(self, code: Shortcode) -> str:
        least = self.file.get_text("min-kubernetes-server-version")
        if least is None:
            return self._render_unknown(code)
        return f"Your Kubernetes server must be at or later than version {least}."


_SINGLE: Mapping[str, Callable[[_ShortcodeRenderer, Shortcode], str]] = {
    "heading": _ShortcodeRenderer.render_heading,
    "glossary_tooltip": _ShortcodeRenderer.render_tooltip,
    "glossary_definition": _ShortcodeRenderer.render_definition,
    "figure": _ShortcodeRenderer.render_figure,
    "feature-state": _ShortcodeRenderer.render_feature_state,
    "param": _ShortcodeRenderer.render_param,
    "skew": _ShortcodeRenderer.render_version,
    "ref": _ShortcodeRenderer.render_reference,
    "relref": _ShortcodeRenderer.render_reference,
    "version-check": _ShortcodeRenderer.render_version_check,
}


def _make_paragraph(code: Shortcode, words: str, mark: str = "**") -> str:
    """Return words as a separate paragraph at the indentation of the shortcode."""
    return f"\n{code.indent}{mark}{words}{mark}\n\n{code.indent}" if words else ""


def _is_words(argument: str) -> bool:
    return len(argument) < 300 and _WORDS.search(argument) is not None


def _find_first_words(code: Shortcode) -> str:
    if code.name in _CODE:
        return ""
    return next((word for word in code.positional if _is_words(word)), "")


def _render_code(code: Shortcode, inner: str) -> str:
    language = code.get_argument("codelang", "lang", "language") or code.get_first_argument()
    if "hl_inline=true" in " ".join((*code.positional, *code.named)):
        return f"`{inner.strip()}`"
    if not code.is_own_line:
        return f"`{inner}`"
    return _make_fence(code, code.name if code.name == "mermaid" else language, inner)


def _make_fence(code: Shortcode, language: str, text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    lines = dedent(text.strip("\n").rstrip()).split("\n")
    inside = "\n".join(f"{code.indent}{line}" for line in lines)
    return f"{mark}{language}\n{inside}\n{code.indent}{mark}\n{code.indent}"
