"""Outcomes set for the page that people ask on."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from bythebook.ask.links import quote_link
from bythebook.ask.verify.sentences import numbered
from bythebook.ask.wording import advice
from bythebook.domain.answers import HEAD_ROW, Answered, Citation, Refused, Sentence
from bythebook.http.contract_query import REFUSAL_MESSAGES

_Noted = tuple[Sentence, str]  # with the numerals of its quotes


def answer_html(outcome: Answered) -> str:
    """Set an answer, each sentence with numerals that lead to its quotes below."""
    cited = numbered(outcome.sentences)
    noted = [
        (sentence, "".join(_numeral(n) for n, (owner, _) in enumerate(cited, 1) if owner == index))
        for index, sentence in enumerate(outcome.sentences)
    ]
    quotes = "".join(_quote(n, citation) for n, (_, citation) in enumerate(cited, 1))
    kind = "Answer, with caution" if outcome.disclaimer else "Answer"
    caution = f"<p><em>{escape(outcome.disclaimer)}</em></p>" if outcome.disclaimer else ""
    return (
        f'<section class="reply" aria-live="polite"><p class="kind">{kind}</p>{caution}'
        f'{"".join(_blocks(noted))}<ol class="quotes">{quotes}</ol></section>'
    )


def refusal_html(outcome: Refused) -> str:
    """Say that there is no answer, what may help, and where to read on."""
    nearest = "".join(
        f'<li><a href="{escape(near.url)}">{escape(near.section)}</a> '
        f'<span class="place">{escape(near.chapter)}</span></li>'
        for near in outcome.nearest_sections
    )
    sections = f'<p class="also">Nearest sections</p><ul>{nearest}</ul>' if nearest else ""
    return (
        '<section class="reply refused" aria-live="polite"><p class="kind">The book does not answer this</p>'
        f"<p>{escape(REFUSAL_MESSAGES[outcome.refusal_type])}.</p>"
        f"<p>{escape(advice(outcome))}</p>{sections}</section>"
    )


def _numeral(number: int) -> str:
    return f'<sup><a href="#q{number}">{number}</a></sup>'


def _quote(number: int, citation: Citation) -> str:
    return (
        f'<li id="q{number}"><q>{escape(citation.quote)}</q><span class="place">'
        f"{escape(citation.place)} · "
        f'<a href="{escape(quote_link(citation, ""))}">'
        "Read it in the book</a></span></li>"
    )


def _blocks(noted: Sequence[_Noted]) -> Iterator[str]:
    """Set sentences as the book sets them: paragraphs, lists, tables, code."""
    for kind, group in groupby(noted, key=lambda one: one[0].kind):
        members = list(group)
        match kind:
            case "item":
                yield _list(members)
            case "row":
                yield f"<table>{''.join(map(_row, members))}</table>"
            case "code" | "formula":
                for one, notes in members:
                    yield f"<pre><code>{escape(one.text)}</code></pre><p>{notes}</p>"
            case _:
                yield from (f"<p>{escape(one.text)}{notes}</p>" for one, notes in members)


def _list(members: Sequence[_Noted]) -> str:
    numbers = [sentence.mark.rstrip(")") for sentence, _ in members]
    ordered = all(number.isdigit() for number in numbers)
    values = [f' value="{number}"' if ordered else "" for number in numbers]
    items = (
        f"<li{value}>{escape(sentence.text)}{notes}</li>"
        for value, (sentence, notes) in zip(values, members, strict=True)
    )
    tag = "ol" if ordered else "ul"
    return f"<{tag}>{''.join(items)}</{tag}>"


def _row(member: _Noted) -> str:
    sentence, notes = member
    tag = "th" if sentence.mark == HEAD_ROW else "td"
    *first, last = sentence.text.split(" | ")
    cells = [*map(escape, first), escape(last) + notes]
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"
