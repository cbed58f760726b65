"""What a page shows in reply to a question: an answer, a refusal or a notice, each by a template."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Protocol

from bythebook.ask.show import advice, number_citations, quote_link
from bythebook.domain.answers import HEAD_ROW, Answered, Citation, NearestSection, Refused, Sentence
from bythebook.http.contracts.query import REFUSAL_MESSAGES


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
class NumberedSentence:
    """A sentence with the numbers of its quotes."""

    sentence: Sentence
    numbers: Sequence[int]

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
    members: Sequence[NumberedSentence]

    @property
    def is_ordered(self) -> bool:
        """Whether the book numbers every item of this list."""
        return all(member.list_number.isdigit() for member in self.members)


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """An answer, each sentence with numbers that lead to its quotes below."""

    template: ClassVar[str] = "answer.html"
    disclaimer: str | None
    groups: Sequence[SentenceGroup]
    quotes: Sequence[tuple[Citation, str]]  # each with its link


@dataclass(frozen=True, slots=True)
class RefusalReply:
    """That there is no answer, what may help, and where to read on."""

    template: ClassVar[str] = "refusal.html"
    message: str
    advice: str
    nearest_sections: Sequence[NearestSection]


def make_reply(outcome: Answered | Refused) -> AnswerReply | RefusalReply:
    """Choose what to show of an outcome."""
    if isinstance(outcome, Refused):
        message = REFUSAL_MESSAGES[outcome.refusal_type]
        return RefusalReply(message, advice(outcome), outcome.nearest_sections)
    cited = number_citations(outcome.sentences)
    numbered = [
        NumberedSentence(sentence, [n for n, (owner, _) in enumerate(cited, 1) if owner == index])
        for index, sentence in enumerate(outcome.sentences)
    ]
    groups = groupby(numbered, key=lambda member: member.sentence.kind)
    return AnswerReply(
        outcome.disclaimer,
        [SentenceGroup(kind, list(members)) for kind, members in groups],
        [(citation, quote_link(citation, "")) for _, citation in cited],
    )
