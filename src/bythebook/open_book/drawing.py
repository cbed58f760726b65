"""Results as HTML for notebooks: everything is escaped, and nothing is loaded."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bythebook.open_book.results import Answer, Citation, FoundSection, Section

_BOX = "border-left:3px solid #7a8b99;padding:.2em 1em;max-width:46em;line-height:1.5"
_TEXT = "white-space:pre-wrap"
_CONTEXT = _TEXT + ";opacity:.7"
_QUIET = "opacity:.7;font-size:.9em"


def draw_answer(answer: "Answer") -> str:
    """Draw an answer with numbered quotes, or a refusal with where to read on."""
    if answer.refusal_type is not None:
        places = "".join(
            f"<li>{_link(_place(near.chapter, near.section), near.link)}</li>"
            for near in answer.nearest_sections
        )
        kind = _quiet(f"The book does not say ({answer.refusal_type})")
        return _box(f"{kind}<p>{escape(answer.text)}</p><ul>{places}</ul>")
    cautious = f"<p><em>{escape(answer.disclaimer)}</em></p>" if answer.disclaimer else ""
    quotes = [one for one in answer.citations if one.key]
    sentences = "".join(
        f"<p style='{_TEXT if index in answer.key_sentences else _CONTEXT}'>"
        f"{escape(sentence)}{_numbers(quotes, index)}</p>"
        for index, sentence in enumerate(answer.sentences)
    )
    return _box(cautious + sentences + _list_quotes(quotes))


def draw_quotes(citations: "Sequence[Citation]") -> str:
    """Draw quotes with their places."""
    return _box(_list_quotes(citations))


def draw_sections(sections: "Iterable[FoundSection]") -> str:
    """Draw found sections, each with its sentence."""
    lines = (
        f"<li>{_link(_place(one.chapter, one.section), one.link)}<br>{escape(one.text)}</li>"
        for one in sections
    )
    return _box(f"<ol>{''.join(lines)}</ol>")


def draw_text(section: "Section") -> str:
    """Draw the text of a section, with the quote in it marked."""
    head = _quiet(" › ".join(section.heading_path) or section.title)
    start, end = section.marked or (section.char_end, section.char_end)
    cuts = [start - section.char_start, end - section.char_start]
    before, quote, after = (
        escape(section.text[a:b]) for a, b in zip([0, *cuts], [*cuts, None], strict=True)
    )
    marked = f"<mark>{quote}</mark>" if quote else ""
    return _box(f"{head}<div style='white-space:pre-wrap'>{before}{marked}{after}</div>")


def _list_quotes(citations: "Sequence[Citation]") -> str:
    lines = (
        f"<li><q>{escape(one.quote)}</q><br>"
        f"<span style='{_QUIET}'>{_link(_place(one.chapter, one.section), one.link)}</span></li>"
        for one in citations
    )
    return f"<ol>{''.join(lines)}</ol>"


def _numbers(citations: "Sequence[Citation]", sentence: int) -> str:
    numbers = [n for n, one in enumerate(citations, 1) if one.sentence == sentence]
    return "".join(f"<sup>[{n}]</sup>" for n in numbers)


def _place(chapter: str, section: str) -> str:
    return " · ".join(dict.fromkeys(filter(None, (chapter, section)))) or "The book"


def _link(text: str, url: str) -> str:
    if not url.startswith(("http://", "https://")):
        return escape(text)
    return f"<a href='{escape(url)}' target='_blank' rel='noopener noreferrer'>{escape(text)}</a>"


def _quiet(text: str) -> str:
    return f"<div style='{_QUIET}'>{escape(text)}</div>"


def _box(inner: str) -> str:
    return f"<div style='{_BOX}'>{inner}</div>"
