"""Nothing is shown before its support was found in the passages it names, whoever wrote it."""

import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from itertools import accumulate

from bythebook.ask.verify.facts import Facts
from bythebook.ask.verify.framing import is_lifted
from bythebook.ask.verify.likeness import is_altered, is_stitched, is_stitched_over
from bythebook.ask.verify.quotes import ELLIPSIS, Page, Pages, Span, cuts_word, pieces_of
from bythebook.ask.verify.reversal import difference, is_about
from bythebook.ask.verify.strangers import is_strange
from bythebook.domain.answers import Citation, Draft, Fault, FaultKind, Passage, Sentence
from bythebook.domain.sentences import split_sentences
from bythebook.ports import Support

__all__ = ["ELLIPSIS", "SUPPORTED_FROM", "locate", "numbered", "verify"]

SUPPORTED_FROM = 0.5  # probability that the cited passages bear a sentence out
MOST_CHARACTERS = 2000  # of a sentence in other words than the book's
_MOST_TRIES = 1000  # occurrences of a sentence looked at, to find the one that is quoted
_TELLING = re.compile(r"\d|[^\W_]{4}|[^\x00-\u024f]")  # "the" is a quote of nothing
_LIST_MARK = re.compile(r"\A\s*(?:(?:step\s)?\d{1,3}[.):]\s+|[*•–-]\s+)", re.IGNORECASE)
_BREAK = re.compile(r"(?<=[.!?])\s+(?=\S)|…")  # also before a small letter, lest one be hidden so
_SURROGATE = re.compile("[\ud800-\udfff]")
_log = logging.getLogger("bythebook.sentences")


async def verify(
    drafts: AsyncIterator[Draft], passages: Sequence[Passage], support: Support
) -> AsyncGenerator[Sentence | Fault]:
    """Let through, one by one, the sentences that the passages bear out; tell what was wrong."""
    pages = Pages(passages)
    async for draft in drafts:
        citations, faults = _quoted(draft, pages)
        kind = await _failing(draft, citations, faults, pages, support)
        if kind is None:
            for mended in dict.fromkeys(faults):
                yield Fault(mended, dropped=False)
            yield Sentence(draft.text, citations, draft.kind)
        else:
            _log.debug("a sentence was dropped: %s", kind, extra={"sentence": draft.text})
            yield Fault(kind, dropped=True)


def locate(passage: Passage, quote: str) -> Citation | None:
    """Find a quote in its passage, exactly or but for typography, and give its exact place."""
    page = Page(passage)
    spans = page.find(quote)
    return page.cite(spans[0]) if spans else None


def numbered(sentences: tuple[Sentence, ...]) -> list[tuple[int, Citation]]:
    """Give every citation with the index of the sentence it supports."""
    return [
        (index, citation)
        for index, sentence in enumerate(sentences)
        for citation in sentence.citations
    ]


async def _failing(
    draft: Draft,
    citations: tuple[Citation, ...],
    faults: Sequence[FaultKind],
    pages: Pages,
    support: Support,
) -> FaultKind | None:
    """Say why a sentence must not be shown; nothing if it may be."""
    text = draft.text
    if not citations:
        return next(
            (kind for kind in ("stitched", "altered_quote") if kind in faults), "fabricated"
        )
    if _SURROGATE.search(text) or not pieces_of(text):
        return "unsupported"
    cited = [page for c in _one_of_each(citations) if (page := pages.named(c.passage))]
    if any(is_lifted(part, _all_sentences(cited)) for part in _parts(text)):
        return "unsupported"
    if any(_is_verbatim(text, page, _covered(page, citations)) for page in cited):
        return None
    if len(text) > MOST_CHARACTERS or not any(_TELLING.search(c.quote) for c in citations):
        return "unsupported"
    if kind := _contrary(_without_mark(text), cited):
        return kind
    if any(
        is_strange(part, [page.passage.chunk.context for page in cited]) for part in _parts(text)
    ):
        return "unsupported"
    if await _is_supported(text, cited, support):
        return None
    return "stitched" if is_stitched(text, cited) else "unsupported"


async def _is_supported(text: str, cited: Sequence[Page], support: Support) -> bool:
    """Ask whether the pages bear out the whole and each thing in it."""
    passages = [page.passage for page in cited]
    parts = list(_parts(text))
    for one in (text, *parts) if len(parts) > 1 else (text,):
        if await support.support(one, passages) < SUPPORTED_FROM:
            return False
    return True


def _contrary(text: str, cited: Sequence[Page]) -> FaultKind | None:
    """Say what speaks against a sentence in other words, before a model is asked what speaks for it."""
    said = [_without_mark(sentence) for sentence in _all_sentences(cited)]
    if turned := difference(text, said):
        return turned
    if Facts(page.passage.chunk.context for page in cited).missing(text):
        return "contradicted" if is_about(text, said) else "unsupported"
    stitched = ELLIPSIS in text and is_stitched_over(pieces_of(text), cited)
    return "stitched" if stitched else None


def _without_mark(sentence: str) -> str:
    """Leave out the number or the dot that only counts an entry of a list."""
    return _LIST_MARK.sub("", sentence)


def _all_sentences(cited: Sequence[Page]) -> Iterator[str]:
    """Give what the cited pages say, sentence by sentence."""
    for page in cited:
        yield from (page.text[start:end] for start, end in split_sentences(page.text))


def _parts(text: str) -> Iterator[str]:
    """Give each thing that is said where a text says several: one true thing vouches for no other."""
    return (part for part in _BREAK.split(_without_mark(text)) if _TELLING.search(part))


def _quoted(draft: Draft, pages: Pages) -> tuple[tuple[Citation, ...], list[FaultKind]]:
    """Find the quotes of a draft, each after the one before it if it can be, and what ails them."""
    found: list[tuple[Page, Span]] = []
    faults: list[FaultKind] = []
    for passage, quote in draft.quotes:
        page = pages.named(passage)
        after = max((span[1] for other, span in found if other is page), default=0)
        spans = page.find(quote, after) if page else ()
        if not spans and (elsewhere := pages.holding(quote)):
            page, spans = elsewhere
            faults.append("misattributed")
        if page is None or not spans:
            faults.append(_ailment(quote, pages))
            continue
        found.extend((page, span) for span in spans)
    whole = [one for one in found if _in_whole_words(*one, found)]
    if len(whole) < len(found):
        faults.append("altered_quote")
    return tuple(page.cite(span) for page, span in whole), faults


def _ailment(quote: str, pages: Pages) -> FaultKind:
    """Say what a quote that stands nowhere was made from."""
    every = tuple(pages)
    if is_stitched(quote, every) or is_stitched_over(pieces_of(quote), every):
        return "stitched"
    return "altered_quote" if is_altered(quote, every) else "fabricated"


def _in_whole_words(page: Page, span: Span, found: Sequence[tuple[Page, Span]]) -> bool:
    """Say whether a quote cuts no word, unless the next quote goes on from there."""
    beside = {edge for other, near in found if other is page and near != span for edge in near}
    return all(edge in beside or not cuts_word(page.text, edge) for edge in span)


def _one_of_each(citations: Sequence[Citation]) -> list[Citation]:
    """Give one citation of each passage."""
    first: list[Citation] = []
    for citation in citations:
        if all(citation.passage is not other.passage for other in first):
            first.append(citation)
    return first


def _is_verbatim(text: str, page: Page, uncovered: Sequence[int]) -> bool:
    """Say whether a sentence is a page's own quoted words, at most visibly trimmed."""
    bodies = [part.strip() for part in text.split(ELLIPSIS) if part.strip()]
    after = 0
    for body in bodies:
        span = _quoted_span(body, page, uncovered, after) or _folded_span(body, page, after)
        if span is None or uncovered[span[1]] > uncovered[span[0]]:
            return False
        after = span[1]
    return True


def _quoted_span(body: str, page: Page, uncovered: Sequence[int], after: int) -> Span | None:
    """Find words exactly, after a place, in whole words and all of them quoted."""
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


def _folded_span(body: str, page: Page, after: int) -> Span | None:
    """Find words but for typography, after a place and in whole words."""
    span = page.find_whole(body, after)
    whole = span and span[0] >= after and not any(cuts_word(page.text, edge) for edge in span)
    return span if whole else None


def _covered(page: Page, citations: Sequence[Citation]) -> list[int]:
    """Count, up to each place of a page, the letters that no quote covers."""
    start = page.passage.chunk.char_start
    bare = [not letter.isspace() for letter in page.text]
    for citation in citations:
        if citation.passage is page.passage:
            begin, end = citation.char_start - start, citation.char_end - start
            bare[begin:end] = [False] * (end - begin)
    return list(accumulate(bare, initial=0))
