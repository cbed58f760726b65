"""What is stored of questions, conversations, keys and feedback."""

import hashlib
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal

from bythebook.domain.answers import NearestSection, RefusalType
from bythebook.domain.questions import Mode

ContractName = Literal["query", "rag", "chat", "ask", "openai", "mcp"]  # A, B, C, D and others
QueryStatus = Literal["success", "refused", "error"]
Role = Literal["user", "assistant"]
ThreadState = Literal["active", "archived"]
KeyScope = Literal["ask", "admin"]

OPEN = "open"  # owner of questions asked while the service has no keys
LIVE_MESSAGES = 50  # of a thread; older ones are archived
TOPIC_SUMMARY_CHARACTERS = 200
FEEDBACK_REASON_CHARACTERS = 500
QUERIES_KEPT = timedelta(days=90)
THREAD_IDLE = timedelta(hours=1)
_KEY_MARK = "btb_"
_KEY_PREFIX_CHARACTERS = len(_KEY_MARK) + 8  # identifies a key, and leaves over 200 bits secret


@dataclass(frozen=True, slots=True)
class CitedSection:
    """A section that an answer quoted."""

    book_id: str
    chapter: str
    section: str


@dataclass(frozen=True, slots=True)
class QueryEntry:
    """A question and how it ended; never its answer, a chunk or the selected text."""

    request_id: uuid.UUID
    contract: ContractName
    mode: Mode
    status: QueryStatus
    query_text: str
    created_at: datetime
    processing_time_ms: int
    session_id: uuid.UUID | None = None
    owner: str = OPEN  # the owner: a key's id, or OPEN
    user_ip: str | None = None
    book_id: str | None = None  # the one asked, else that of the best passage
    selected_text_length: int | None = None
    refusal_type: RefusalType | None = None
    refusal_reason: str | None = None
    chunks_retrieved: int = 0
    top_chunk_score: float | None = None  # relevance of the best passage
    raw_cosine: float | None = None  # of the same passage
    borderline: bool = False
    has_sufficient_context: bool | None = None
    cited_sections: tuple[CitedSection, ...] = ()
    nearest_section: NearestSection | None = None
    model: str | None = None  # the language model asked to write; None: the book's own sentences
    sentences_shown: int = 0  # of those that the model proposed
    sentences_dropped: int = 0  # of these, because the book does not support them
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None  # None: the provider gives no price
    citation_ids: tuple[str, ...] = ()  # of the answer; they hold none of its words

    @property
    def tokens(self) -> int:
        """All tokens used."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class DayCount:
    """How many questions were asked on a day (UTC)."""

    day: date
    questions: int


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and how often it was asked, as last worded."""

    text: str
    times: int
    nearest_section: NearestSection | None = None


@dataclass(frozen=True, slots=True)
class CitedChapter:
    """A chapter and how many answers cited it."""

    book_id: str
    chapter: str
    times: int


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The usage of a language model, and how much of what it wrote the book supports."""

    model: str
    questions: int
    sentences: int  # that it proposed
    dropped: int  # of these
    tokens: int
    usd: float | None = None  # None: the provider gives no price

    @property
    def dropped_share(self) -> float:
        """The share of its sentences that were dropped."""
        return self.dropped / self.sentences if self.sentences else 0.0


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a reader thought of an answer."""

    request_id: uuid.UUID
    helpful: bool
    created_at: datetime
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class QueryStats:
    """What readers asked in a period, and how it ended."""

    questions: int
    per_day: tuple[DayCount, ...]
    by_status: Mapping[QueryStatus, int]
    refusals: Mapping[RefusalType, int]
    borderline: int
    most_asked: tuple[AskedQuestion, ...]
    most_refused: tuple[AskedQuestion, ...]
    most_cited: tuple[CitedChapter, ...]
    helpful: int = 0
    not_helpful: int = 0
    latest_reasons: tuple[Feedback, ...] = ()  # newest first
    models: tuple[ModelRecord, ...] = ()  # by how often they were asked

    @property
    def refusal_rates(self) -> Mapping[RefusalType, float]:
        """The share of all questions that were refused, by type."""
        return {kind: count / self.questions for kind, count in self.refusals.items()}


@dataclass(frozen=True, slots=True)
class MessageCitation:
    """A quote under an assistant's message, as shown to the reader."""

    sentence: int
    chunk_id: str
    char_start: int
    char_end: int
    chapter: str | None = None
    section: str | None = None
    source_url: str | None = None
    referenced_text: str | None = None
    document_id: str | None = None
    link: str | None = None
    key: bool = True  # of a key sentence, not of its context
    permalink: str | None = None  # outlasts edits of the book


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said in a conversation."""

    role: Role
    content: str
    created_at: datetime
    confidence: float | None = None
    citations: tuple[MessageCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, always stored together."""

    asked: Message
    answered: Message

    def __post_init__(self) -> None:
        if (self.asked.role, self.answered.role) != ("user", "assistant"):
            raise ValueError("an exchange is a user's message and then an assistant's")


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation of one owner: its newest messages, oldest first."""

    session_id: uuid.UUID
    messages: tuple[Message, ...]
    message_count: int  # archived ones too
    created_at: datetime
    updated_at: datetime
    state: ThreadState
    topic_summary: str | None
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """What a key allows; None for no bound."""

    scope: KeyScope
    books: tuple[str, ...] | None = None
    origins: tuple[str, ...] | None = None
    limit_per_minute: int | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored, without its secret."""

    key_id: uuid.UUID
    prefix: str
    terms: KeyTerms
    created_at: datetime
    revoked_at: datetime | None = None

    def usable_at(self, now: datetime) -> bool:
        """Return True if the key is neither revoked nor expired."""
        expires = self.terms.expires_at
        return self.revoked_at is None and (expires is None or now < expires)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key with its secret, which is shown once and never stored."""

    key: ApiKey
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Purged:
    """How much was deleted because of its age."""

    queries: int
    sessions: int
    feedback: int


def new_secret() -> str:
    """Make a key of 256 random bits."""
    return _KEY_MARK + secrets.token_urlsafe(32)


def key_prefix(secret: str) -> str:
    """Return the part of a secret that may be shown."""
    return secret[:_KEY_PREFIX_CHARACTERS]


def key_hash(secret: str) -> str:
    """Hash a key; plain SHA-256 is enough, since 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
