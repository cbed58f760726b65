"""A published book -> questions, each put to the product itself and kept if its own section answers it clearly."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from bythebook.ask import AskPorts, collect
from bythebook.domain.answers import Answered
from bythebook.domain.books import Document
from bythebook.domain.questions import Question, Scope
from bythebook.domain.suggestions import Suggestion
from bythebook.suggest.candidates import Candidate, digest_section, list_candidates
from bythebook.suggest.wording import BookVocabulary, say_same

WANTED = 24
MOST_ASKED = 3  # questions, for each one that is wanted
MOST_OF_DOCUMENT = 3
MOST_WHAT = 0.4  # share of questions that only ask what something is
CLEAR_FROM = 0.75  # chance of an answer
OnAsked = Callable[[int, int], None]  # how many were asked, of how many at most


@dataclass(frozen=True, slots=True)
class SuggestPorts:
    """What finding suggestions needs: a book's documents, and the answer path without a language model."""

    ask: AskPorts

    def __post_init__(self) -> None:
        if self.ask.uses_model or self.ask.planner or self.ask.validator:
            raise ValueError("suggestions are never found by a language model")


async def suggest(
    book_id: str,
    ports: SuggestPorts,
    before: Sequence[Suggestion] = (),
    *,
    wanted: int = WANTED,
    on_asked: OnAsked = lambda *_: None,
) -> tuple[Suggestion, ...]:
    """Find questions that a book answers; of earlier ones those stay whose section is as it was."""
    documents = ports.ask.library.documents(book_id)
    chosen = _Choice(wanted, _keep_unchanged(before, documents))
    most = MOST_ASKED * (wanted - len(chosen.kept))
    asked = 0
    for candidate in _spread(documents):
        if asked >= most or chosen.is_full:
            break
        if not chosen.wants(candidate):
            continue
        asked += 1
        if await _is_answered(candidate, book_id, ports.ask):
            chosen.add(candidate)
        on_asked(asked, most)
    return tuple(_in_reading_order(chosen.kept, documents))


class _Choice:
    """The questions that were kept so far, and which others would go with them."""

    def __init__(self, wanted: int, kept: Sequence[Suggestion]) -> None:
        self._wanted = wanted
        self.kept = list(kept)

    @property
    def is_full(self) -> bool:
        return len(self.kept) >= self._wanted

    def wants(self, candidate: Candidate) -> bool:
        """Return True if a question is new, and neither its document nor its form has its share already."""
        suggestion = candidate.suggestion
        of_document = sum(one.document_id == suggestion.document_id for one in self.kept)
        what = sum(_asks_what_is(one.question) for one in self.kept)
        return (
            of_document < MOST_OF_DOCUMENT
            and not (_asks_what_is(suggestion.question) and what >= MOST_WHAT * self._wanted)
            and not say_same(suggestion.question, [one.question for one in self.kept])
        )

    def add(self, candidate: Candidate) -> None:
        self.kept.append(candidate.suggestion)


def _asks_what_is(question: str) -> bool:
    return question.startswith(("What is ", "What are ")) and not question.startswith(
        "What are the "
    )


def _keep_unchanged(
    before: Sequence[Suggestion], documents: Sequence[Document]
) -> list[Suggestion]:
    known = {
        (document.document_id, digest_section(document, section))
        for document in documents
        for section in document.sections
    }
    return [one for one in before if (one.document_id, one.digest) in known]


def _spread(documents: Sequence[Document]) -> Iterator[Candidate]:
    """Take the documents' questions in turns, so that no chapter has them all."""
    vocabulary = BookVocabulary(document.text for document in documents)
    for row in zip_longest(*(list_candidates(one, vocabulary) for one in documents)):
        yield from (one for one in row if one is not None)


async def _is_answered(candidate: Candidate, book_id: str, ports: AskPorts) -> bool:
    """Ask, and see that the section itself answers clearly."""
    outcome = await collect(Question(candidate.suggestion.question, Scope(book_id)), ports)
    if not isinstance(outcome, Answered) or outcome.disclaimer or outcome.missing:
        return False
    first = next((one for one in outcome.sentences if one.key), None)
    return (
        first is not None
        and outcome.judgement.answerable >= CLEAR_FROM
        and any(
            cited.passage.chunk.document_id == candidate.suggestion.document_id
            and candidate.start <= cited.char_start < candidate.end
            for cited in first.citations
        )
    )


def _in_reading_order(
    kept: Sequence[Suggestion], documents: Sequence[Document]
) -> list[Suggestion]:
    places = {document.document_id: number for number, document in enumerate(documents)}
    return sorted(kept, key=lambda one: places.get(one.document_id, len(places)))
