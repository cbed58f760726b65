"""What a run of the answer path finds and says, and the events it yields."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bythebook.domain.books import Chunk, PageMark, Unit, UnitKind
from bythebook.domain.questions import Mode, Plan
from bythebook.domain.usage import Usage

RefusalType = Literal[
    "empty_retrieval", "low_relevance", "insufficient_grounding", "selected_text_missing"
]
FaultKind = Literal[
    "fabricated", "altered_quote", "stitched", "misattributed", "unsupported", "contradicted"
]
ConfidenceLevel = Literal["high", "medium", "low", "insufficient"]
SELECTED_TEXT = "selected_text"  # the chunk id of a reader's selection
HEAD_ROW = "head"  # the mark of a row that names the columns


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk as the index found it, with two scores that are not fused yet."""

    chunk: Chunk
    cosine: float
    words: float  # BM25 as a share of the most that any text could score for the question


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk with its relevance to the question, r in [0, 1]."""

    chunk: Chunk
    relevance: float
    cosine: float | None = None  # None for a selection, which was not retrieved
    signal: float = 0.0  # what it was ranked by, on the judge's scale; 0 for a selection
    in_context: bool = False  # found by a question together with the turns before it

    @property
    def is_selection(self) -> bool:
        """True for the reader's selection, False for a part of the book."""
        return self.chunk.document_id == SELECTED_TEXT


@dataclass(frozen=True, slots=True)
class Evidence:
    """A unit of a passage that may answer; `support` is its share of the chance that one does."""

    passage: Passage
    unit: Unit
    support: float
    answer: tuple[int, int] | None = None  # where its answering words stand in the chunk, if known

    @property
    def quote(self) -> str:
        """The unit's own words."""
        return self.passage.chunk.text[self.unit.start : self.unit.end]


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """What answers one part of a question that has several."""

    question: str  # the part, standing alone
    evidence: tuple[Evidence, ...]  # best first


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge makes of question and passages together."""

    answerable: float  # probability that the passages answer
    supports: tuple[float, ...]  # per passage, in the order given
    evidence: tuple[Evidence, ...]  # best first
    parts: tuple[PartEvidence, ...] = ()  # that are answered, of a question of several


NOTHING_READ = Judgement(0.0, (), ())


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence proposed by a generator, with the quotes it rests on; not yet shown."""

    text: str
    quotes: tuple[tuple[Passage, str], ...]
    kind: UnitKind = "sentence"
    key: bool = True  # it answers; False: it is shown as the context of what does


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim quote at its place in the book."""

    passage: Passage
    quote: str
    char_start: int
    char_end: int

    @property
    def page(self) -> PageMark | None:
        """The page that the quote begins on; none where the book has no pages."""
        chunk = self.passage.chunk
        return chunk.page_at(self.char_start - chunk.char_start)

    @property
    def stands(self) -> bool:
        """True if the passage has the quote, word for word, at its place."""
        chunk = self.passage.chunk
        start, end = self.char_start - chunk.char_start, self.char_end - chunk.char_start
        return bool(self.quote) and start >= 0 and chunk.text[start:end] == self.quote

    @property
    def place(self) -> str:
        """Where to find the quote, for people: chapter, section, page."""
        chunk = self.passage.chunk
        page = f"page {self.page.label or self.page.number}" if self.page else ""
        return " · ".join(dict.fromkeys(filter(None, (chunk.chapter, chunk.section, page))))


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that an answer rests on, with verbatim quotes that show why, the cited ones first."""

    passage: Passage
    cited: bool
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearestSection:
    """Where to read on when the book does not answer."""

    book_id: str
    document_id: str
    chapter: str
    section: str
    url: str


@dataclass(frozen=True, slots=True)
class ConfidenceMetrics:
    """How much an outcome can be trusted; similarities are on contract C's scale."""

    average_similarity: float
    min_similarity: float
    max_similarity: float
    num_chunks: int
    chunk_diversity: float
    confidence_level: ConfidenceLevel
    should_answer: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """The question was planned."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Passages were found, best first."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The passages were judged; `disclaimer` is what a cautious answer must open with."""

    judgement: Judgement
    disclaimer: str | None
    passages: tuple[Passage, ...] = ()  # those of the answer to come, which Answered will name
    missing: tuple[str, ...] = ()  # parts of the question that are not answered, as they were asked


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer, already verified."""

    text: str
    citations: tuple[Citation, ...]
    kind: UnitKind = "sentence"
    mark: str = ""  # an item's number, the language of code, HEAD_ROW
    key: bool = True  # it answers; False: it is shown as the context of what does


@dataclass(frozen=True, slots=True)
class Fault:
    """What was wrong with a draft: it was dropped, or shown with corrected quotes."""

    kind: FaultKind
    dropped: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """The end of a run that answered."""

    sentences: tuple[Sentence, ...]
    passages: tuple[Passage, ...]
    judgement: Judgement
    disclaimer: str | None
    mode: Mode
    timings: Mapping[str, float]
    model_used: str = ""  # what wrote the sentences
    usage: Usage = field(default_factory=Usage)  # zero if the book's own sentences answer
    missing: tuple[str, ...] = ()  # parts of the question that are not answered, as they were asked
    fallback: bool = False  # True: a language model failed, and the book answers without it

    @property
    def key_sentences(self) -> tuple[int, ...]:
        """The numbers of the sentences that answer; the others are shown as their context."""
        return tuple(number for number, one in enumerate(self.sentences) if one.key)

    @property
    def grounded(self) -> bool:
        """True if every sentence cites quotes that are in passages of this run."""
        return bool(self.sentences) and all(
            sentence.citations
            and all(cited.stands and cited.passage in self.passages for cited in sentence.citations)
            for sentence in self.sentences
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """The end of a run that did not answer, and why."""

    refusal_type: RefusalType
    nearest_sections: tuple[NearestSection, ...]
    passages: tuple[Passage, ...]
    judgement: Judgement
    mode: Mode
    timings: Mapping[str, float]
    model_used: str = ""
    usage: Usage = field(default_factory=Usage)


Event = Planned | Retrieved | Judged | Sentence | Fault | Answered | Refused
Outcome = Answered | Refused
