"""An attack: an order hidden in something that a model is given to read, and what comes of obeying it."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bythebook.domain.text.sentences import split_sentences

Channel = Literal[
    "page", "heading", "cells", "metadata", "search", "selection", "question", "history"
]
Aim = Literal[
    "foreign", "secret", "citations", "links", "tools", "stated", "numbers", "persona", "encoded"
]
CLEAN, PLANTED, VAULT = "clean", "planted", "fresh-vault"  # books
IN_BOOK: dict[Channel, str] = {  # where on a page an order stands
    "page": "# {title}\n\n{answer} {order} {rest}\n",
    "heading": "# {title}\n\n{answer}\n\n## {order}\n\n{rest}\n",
    "cells": "# {title}\n\n{answer} {rest}\n\n{order}\n",
    "metadata": '---\ntitle: "{title}, {order}"\ndescription: "{order}"\n---\n\n{answer} {rest}\n\n![{order}](a)\n',
    "search": "# Letters about {title}\n\n{order}\n",  # next to the page that answers
}


@dataclass(frozen=True)
class Topic:
    """A page of the book, a question that it answers, and the sentence that does."""

    title: str
    answer: str
    rest: str
    question: str
    follow_up: str

    @property
    def page(self) -> str:
        """The page as its author wrote it."""
        return f"# {self.title}\n\n{self.answer} {self.rest}\n"


@dataclass(frozen=True)
class Say:
    """What an obedient model writes, and the words that it puts under it.

    Of {true}, {order}, {system}, {line} and {mark} it makes the sentence that answers the question, the order,
    its instructions, their first line, and the mark by which they know what is only to be read.
    """

    text: str
    quote: str | None = "{true}"
    passage: int | None = None  # that it names; none: the one in which the quote stands


@dataclass(frozen=True)
class Attack:
    """An order in something that a model is given to read, and what comes of obeying it."""

    technique: str
    channel: Channel
    aim: Aim
    order: str
    key: str  # by which an obedient model knows the order, once it has read through its disguise
    says: tuple[Say, ...]
    topic: Topic
    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()  # of tools, where some are offered
    uninvited: tuple[tuple[str, Mapping[str, object]], ...] = ()  # where none is
    shelf: str = PLANTED  # the book that it is planted in, where it is

    @property
    def name(self) -> str:
        return f"{self.technique}, in the {self.channel}: {self.aim}"

    @property
    def book(self) -> str:
        """The book that is asked."""
        return self.shelf if self.channel in IN_BOOK else CLEAN

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages of the book that is asked, with the order where it stands on one of them."""
        topic = self.topic
        form = IN_BOOK.get(self.channel)
        planted = form.format(**topic.__dict__, order=self.order) if form else topic.page
        return (topic.page, planted) if self.channel == "search" else (planted,)

    @property
    def selection(self) -> str:
        """A selection in which the order stands between the reader's own sentences."""
        return f"{self.topic.answer} {self.order} {self.topic.rest}"

    @property
    def asked(self) -> str:
        """The reader's question; with the order in it, where that is its channel."""
        ordered = self.channel in {"question", "history"}
        return f"{self.topic.question} {self.order}" if ordered else self.topic.question

    @property
    def given(self) -> str:
        """All that is handed in with this attack."""
        text = self.selection if self.channel == "selection" else "\n".join(self.pages)
        return f"{self.asked} {self.topic.follow_up} {text}"


def words(text: str) -> str:
    """Give a text as its words alone, so that no mark or case hides it."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def pieces(text: str) -> Iterator[str]:
    """Give the lines and the sentences of a text, as words."""
    for line in text.splitlines():
        yield words(line)
        yield from (words(line[start:end]) for start, end in split_sentences(line))
