"""Drafts -> sentences that the passages support; this applies to every generator."""

import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from itertools import accumulate

from bythebook.ask.verify.facts import Facts
from bythebook.ask.verify.framing import is_lifted
from bythebook.ask.verify.likeness import is_altered, is_stitched, is_stitched_over
from bythebook.ask.verify.quotes import ELLIPSIS, Pages, QuotedPassage, Span, cuts_word, pieces_of
from bythebook.ask.verify.reversal import difference, is_about
from bythebook.ask.verify.strangers import is_strange
from bythebook.domain.answers import Citation, Draft, Fault, FaultKind, Passage, Sentence
from bythebook.domain.text.sentences import split_sentences
from bythebook.ports import Support

__all__ = ["ELLIPSIS", "SUPPORTED_FROM", "locate", "number_citations", "verify"]

SUPPORTED_FROM = 0.5  # probability that the cited passages support a sentence
MOST_CHARACTERS = 2000  # of a sentence in words other than the book's
_MOST_TRIES = 1000  # occurrences of a sentence that are tried, to find the quoted one
_TELLING = re.compile(r"\d|[^\W_]{4}|[^\x00-\u024f]")  # a quote of only "the" supports nothing
_LIST_MARK = re.compile(r"\A\s*(?:(?:step\s)?\d{1,3}[.):]\s+|[*•–-]\s+)", re.IGNORECASE)
_BREAK = re.compile(
    r"(?<=[.!?])\s+(?=\S)|…"
)  # also before a small letter, so that no sentence can hide
_SURROGATE = re.compile("[\ud800-\udfff]")
_log = logging.getLogger("bythebook.sentences")


async def verify(
    drafts: AsyncIterator[Draft], passages: Sequence[Passage], support: Support
) -> AsyncGenerator[Sentence | Fault]:
    """Yield the sentences that the passages support, and the faults of the others."""
    pages = Pages(passages)
    async for draft in drafts:
        citations, faults = _locate_quotes(draft, pages)
        kind = await _find_fault(draft, citations, faults, pages, support)
        if kind is None:
            for mended in dict.fromkeys(faults):
                yield Fault(mended, dropped=False)
            yield Sentence(draft.text, citations, draft.kind, key=draft.key)
        else:
            _log.debug("a sentence was dropped: %s", kind, extra={"sentence": draft.text})
            yield Fault(kind, dropped=True)


def locate(passage: Passage, quote: str) -> Citation | None:
    """Return a quote's exact place in its passage, found exactly or ignoring typography."""
    page = QuotedPassage(passage)
    spans = page.find(quote)
    return page.cite(spans[0]) if spans else None


def number_citations(sentences: tuple[Sentence, ...]) -> list[tuple[int, Citation]]:
    """Return every citation with the index of the sentence it supports."""
    return [
        (index, citation)
        for index, sentence in enumerate(sentences)
        for citation in sentence.citations
    ]


async def _find_fault(
    draft: Draft,
    citations: tuple[Citation, ...],
    faults: Sequence[FaultKind],
    pages: Pages,
    support: Support,
) -> FaultKind | None:
    """Return why a sentence must not be shown; None if it may be."""
    text = draft.text
    if not citations:
        return next(
            (kind for kind in ("stitched", "altered_quote") if kind in faults), "fabricated"
        )
    if _SURROGATE.search(text) or not pieces_of(text):
        return "unsupported"
    cited = [page for c in _one_of_each(citations) if (page := pages.page_of(c.passage))]
    if any(is_lifted(part, _all_sentences(cited)) for part in _parts(text)):
        return "unsupported"
    if any(_is_verbatim(text, page, _count_uncovered(page, citations)) for page in cited):
        return None
    if len(text) > MOST_CHARACTERS or not any(_TELLING.search(c.quote) for c in citations):
        return "unsupported"
    if kind := _find_contradiction(_without_mark(text), cited):
        return kind
    if any(
        is_strange(part, [page.passage.chunk.context for page in cited]) for part in _parts(text)
    ):
        return "unsupported"
    if await _is_supported(text, cited, support):
        return None
    return "stitched" if is_stitched(text, cited) else "unsupported"


async def _is_supported(text: str, cited: Sequence[QuotedPassage], support: Support) -> bool:
    """Return True if the pages support the whole text and each sentence of it."""
    passages = [page.passage for page in cited]
    parts = list(_parts(text))
    for one in (text, *parts) if len(parts) > 1 else (text,):
        if await support.support(one, passages) < SUPPORTED_FROM:
            return False
    return True


def _find_contradiction(text: str, cited: Sequence[QuotedPassage]) -> FaultKind | None:
    """Return what contradicts a paraphrase, before the model is asked whether it is supported."""
    said = [_without_mark(sentence) for sentence in _all_sentences(cited)]
    if turned := difference(text, said):
        return turned
    if Facts(page.passage.chunk.context for page in cited).find_missing(text):
        return "contradicted" if is_about(text, said) else "unsupported"
    stitched = ELLIPSIS in text and is_stitched_over(pieces_of(text), cited)
    return "stitched" if stitched else None


def _without_mark(sentence: str) -> str:
    """Remove the number or bullet of a list entry."""
    return _LIST_MARK.sub("", sentence)


def _all_sentences(cited: Sequence[QuotedPassage]) -> Iterator[str]:
    """Yield the sentences of the cited pages."""
    for page in cited:
        yield from (page.text[start:end] for start, end in split_sentences(page.text))


def _parts(text: str) -> Iterator[str]:
    """Return the sentences of a text; each is checked, since one true sentence proves no other."""
    return (part for part in _BREAK.split(_without_mark(text)) if _TELLING.search(part))


def _locate_quotes(draft: Draft, pages: Pages) -> tuple[tuple[Citation, ...], list[FaultKind]]:
    """Find the quotes of a draft, in order where possible, and their faults."""
    found: list[tuple[QuotedPassage, Span]] = []
    faults: list[FaultKind] = []
    for passage, quote in draft.quotes:
        page = pages.page_of(passage)
        after = max((span[1] for other, span in found if other is page), default=0)
        spans = page.find(quote, after) if page else ()
        if not spans and (elsewhere := pages.find_page(quote)):
            page, spans = elsewhere
            faults.append("misattributed")
        if page is None or not spans:
            faults.append(_classify_missing_quote(quote, pages))
            continue
        found.extend((page, span) for span in spans)
    whole = [one for one in found if _in_whole_words(*one, found)]
    if len(whole) < len(found):
        faults.append("altered_quote")
    return tuple(page.cite(span) for page, span in whole), faults


def _classify_missing_quote(quote: str, pages: Pages) -> FaultKind:
    """Return the fault of a quote that is on no page."""
    every = tuple(pages)
    if is_stitched(quote, every) or is_stitched_over(pieces_of(quote), every):
        return "stitched"
    return "altered_quote" if is_altered(quote, every) else "fabricated"


def _in_whole_words(
    page: QuotedPassage, span: Span, found: Sequence[tuple[QuotedPassage, Span]]
) -> bool:
    """Return True if a quote cuts no word, or another quote continues there."""
    joined = {edge for other, near in found if other is page and near != span for edge in near}
    return all(edge in joined or not cuts_word(page.text, edge) for edge in span)


def _one_of_each(citations: Sequence[Citation]) -> list[Citation]:
    """Return one citation of each passage."""
    first: list[Citation] = []
    for citation in citations:
        if all(citation.passage is not other.passage for other in first):
            first.append(citation)
    return first


def _is_verbatim(text: str, page: QuotedPassage, uncovered: Sequence[int]) -> bool:
    """Return True if a sentence is a page's own quoted words, at most visibly trimmed."""
    bodies = [part.strip() for part in text.split(ELLIPSIS) if part.strip()]
    after = 0
    for body in bodies:
        span = _find_exact_span(body, page, uncovered, after) or _find_folded_span(
            body, page, after
        )
        if span is None or uncovered[span[1]] > uncovered[span[0]]:
            return False
        after = span[1]
    return True


def _find_exact_span(
    body: str, page: QuotedPassage, uncovered: Sequence[int], after: int
) -> Span | None:
    """Find words exactly, after a place, in whole words and completely quoted."""
    at = page.text.find(body, after)
    for _ in range(_MOST_TRIES):
        end = at + len(body)
        if at < 0:
            return None
        whole = not (cuts_word(page.text, at) or cuts_word(page.text, end))
        if whole and uncovered[end] == uncovered[at]:
            return at, end
        at = page.text.find(body, at + 1)
    return None


def _find_folded_span(body: str, page: QuotedPassage, after: int) -> Span | None:
    """Find words ignoring typography, after a place and in whole words."""
    span = page.find_whole(body, after)
    whole = span and span[0] >= after and not any(cuts_word(page.text, edge) for edge in span)
    return span if whole else None


def _count_uncovered(page: QuotedPassage, citations: Sequence[Citation]) -> list[int]:
    """Count, up to each place of a page, the letters that are not quoted."""
    start = page.passage.chunk.char_start
    bare = [not letter.isspace() for letter in page.text]
    for citation in citations:
        if citation.passage is page.passage:
            begin, end = citation.char_start - start, citation.char_end - start
            bare[begin:end] = [False] * (end - begin)
    return list(accumulate(bare, initial=0))
