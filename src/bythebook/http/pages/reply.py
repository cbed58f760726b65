"""What a page shows in reply to a question: an answer, a refusal or a notice, each by a template."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, Protocol

from markupsafe import Markup

from bythebook.ask.show import advice, quote_link, split_answer
from bythebook.domain.answers import HEAD_ROW, Answered, Citation, NearestSection, Refused, Sentence
from bythebook.http.contracts.query import REFUSAL_MESSAGES
from bythebook.http.pages.rich_quotes import render_quote, render_sentence
from bythebook.ports import Library


class PageReply(Protocol):
    """What a template shows under the name `reply`."""

    template: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Notice:
    """Why there is neither an answer nor a refusal."""

    template: ClassVar[str] = "notice.html"
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class LinkNotice:
    """Why a link on another site only fills the field: any site could ask at the operator's cost."""

    template: ClassVar[str] = "link_notice.html"
    button: str
    heading: str = ""  # of a page that has no other


@dataclass(frozen=True, slots=True)
class Quote:
    """A numbered quote, with the link that opens the book at it."""

    number: int
    citation: Citation
    words: Markup  # as the author set them

    @property
    def link(self) -> str:
        """Where the book has the quote."""
        return quote_link(self.citation, "")


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence with its quotes; one that is the context of others has none."""

    sentence: Sentence
    quotes: Sequence[Quote]
    cells: Sequence[Markup]  # as the author set them; one unless it is a row of a table

    @property
    def words(self) -> Markup:
        """What a sentence that is no row says."""
        return self.cells[0]

    @property
    def is_formula(self) -> bool:
        """Whether it is a formula that a page can draw."""
        return "<math" in self.words

    @property
    def list_number(self) -> str:
        """The number of a list item in the book."""
        return self.sentence.mark.rstrip(")")

    @property
    def is_head_row(self) -> bool:
        """Whether this row names the columns of its table."""
        return self.sentence.mark == HEAD_ROW


@dataclass(frozen=True, slots=True)
class SentenceGroup:
    """Sentences shown together, as the book shows them: paragraphs, a list, a table, code."""

    kind: str
    members: Sequence[QuotedSentence]

    @property
    def is_ordered(self) -> bool:
        """Whether the book numbers every item of this list."""
        return all(member.list_number.isdigit() for member in self.members)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Sentences of one passage, under the line that says where it stands."""

    source: Citation  # the first that answers
    groups: Sequence[SentenceGroup]

    @property
    def link(self) -> str:
        """Where the book has the sentence that answers."""
        return quote_link(self.source, "")

    @property
    def unseen_quotes(self) -> Sequence[Quote]:
        """The quotes behind sentences that are in other words than the book's."""
        return [
            quote
            for group in self.groups
            for member in group.members
            for quote in member.quotes
            if quote.citation.quote not in member.sentence.text
        ]


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """An answer: excerpts, in which each sentence that answers has a number that opens the book at it."""

    template: ClassVar[str] = "answer.html"
    disclaimer: str | None
    excerpts: Sequence[Excerpt]


@dataclass(frozen=True, slots=True)
class RefusalReply:
    """That there is no answer, what may help, and where to read on."""

    template: ClassVar[str] = "refusal.html"
    message: str
    advice: str
    nearest_sections: Sequence[NearestSection]


def make_reply(outcome: Answered | Refused, library: Library) -> AnswerReply | RefusalReply:
    """Choose what to show of an outcome."""
    if isinstance(outcome, Refused):
        message = REFUSAL_MESSAGES[outcome.refusal_type]
        return RefusalReply(message, advice(outcome), outcome.nearest_sections)
    return AnswerReply(outcome.disclaimer, list(_cut_excerpts(outcome.sentences, library)))


def _cut_excerpts(sentences: Sequence[Sentence], library: Library) -> Iterator[Excerpt]:
    """Group an answer by the passages that it shows."""
    groups: list[SentenceGroup] = []
    for group in _group_sentences(sentences, library):
        if groups and _chunk_of(groups[-1]) != _chunk_of(group):
            yield Excerpt(_source_of(groups), groups)
            groups = []
        groups.append(group)
    if groups:
        yield Excerpt(_source_of(groups), groups)


def _chunk_of(group: SentenceGroup) -> str:
    return group.members[0].sentence.citations[0].passage.chunk.chunk_id


def _source_of(groups: Sequence[SentenceGroup]) -> Citation:
    members = [member for group in groups for member in group.members]
    keys = [member for member in members if member.sentence.key]
    return (keys or members)[0].sentence.citations[0]


def _group_sentences(sentences: Sequence[Sentence], library: Library) -> Iterator[SentenceGroup]:
    """Group sentences as the book sets them: by paragraph, list and table."""
    members: list[QuotedSentence] = []
    numbers = count(1)
    for sentence, (between, _) in zip(sentences, split_answer(sentences), strict=True):
        if members and between == "\n\n":
            yield SentenceGroup(members[0].sentence.kind, members)
            members = []
        quotes = list(_number_quotes(sentence, numbers, library))
        members.append(QuotedSentence(sentence, quotes, render_sentence(sentence, library)))
    if members:
        yield SentenceGroup(members[0].sentence.kind, members)


def _number_quotes(sentence: Sentence, numbers: Iterator[int], library: Library) -> Iterator[Quote]:
    """Number a sentence that answers once; if it is in other words than the book's, each of its quotes."""
    if not sentence.key:
        return
    verbatim = all(one.quote in sentence.text for one in sentence.citations)
    shown = sentence.citations[:1] if verbatim else sentence.citations
    for citation in shown:
        yield Quote(next(numbers), citation, render_quote(citation, library))
