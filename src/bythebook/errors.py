"""Our own errors.

ByTheBookError
├── InputError            the caller can put it right: a path, a book, a value
│   ├── UnknownBook       no book of that name
│   ├── UnknownDocument   the book has no such document
│   ├── UnreadableBook    a source that no reader can make a book of
│   └── BadQuestions      a question set that cannot be read
├── BusyBook              another run is publishing this book
├── NotAdmitted           the caller may not have what it asks for
│   ├── Unauthorized      no key, or one that opens nothing
│   ├── Forbidden         a key that does not open this, or not from there
│   └── TooManyRequests   a limit is used up
├── Overloaded            more questions than can be answered in time
├── Stopping              the service stops before the answer is there
└── PartFailed            a part that an answer needs did not work
    ├── StoreFailed       the index or the stored texts
    │   ├── NoBooks       the library is empty
    │   ├── DamagedBook   files of a book are missing or changed
    │   └── WrongEmbedder the index was built by another embedding model
    ├── EmbedderFailed    the embedding model
    ├── ModelFailed       the language model
    │   ├── ModelTimeout  it did not answer in time
    │   └── BadAnswer     it answered, but with nothing that can be used
    ├── LimiterFailed     what processes share their counts of requests in
    └── RecordsFailed     the database of questions, conversations and keys
        └── RecordsOutdated   its tables are of another version
"""


class ByTheBookError(Exception):
    """A failure with a sentence for a person: what happened, and what to do about it."""

    retryable = False

    def __init__(self, what: str, help_message: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.help_message = help_message


class InputError(ByTheBookError):
    """The caller's input cannot be used."""


class UnknownBook(InputError):
    """No such book in the data folder."""


class UnknownDocument(InputError):
    """No such document in the book."""


class UnreadableBook(InputError):
    """The source is not a book that a reader can read."""


class BadQuestions(InputError):
    """The file is not a question set."""


class BusyBook(ByTheBookError):
    """Another run is working on the book."""

    retryable = True


class NotAdmitted(ByTheBookError):
    """The caller may not do this now, or at all."""


class Unauthorized(NotAdmitted):
    """No key was given, or it is unknown, revoked or expired."""


class Forbidden(NotAdmitted):
    """The key is valid, but not for this, or not from this origin."""


class TooManyRequests(NotAdmitted):
    """A window of requests is used up."""

    retryable = True

    def __init__(self, what: str, *, limit: int, remaining: int, retry_after: int) -> None:
        super().__init__(what)
        self.limit = limit
        self.remaining = remaining
        self.retry_after = retry_after


class Overloaded(ByTheBookError):
    """The question would have to wait too long for its turn."""

    retryable = True

    def __init__(self, what: str, *, retry_after: int) -> None:
        super().__init__(what)
        self.retry_after = retry_after  # seconds


class Stopping(ByTheBookError):
    """The service is stopping; ask another one, or this one later."""

    retryable = True


class PartFailed(ByTheBookError):
    """A part that answers depend on failed, so there is no answer."""

    retryable = True
    part = "part"  # its name to operators
    public = "This part failed; the log says more."  # to strangers, who learn no place and no name
    is_unwell = True  # whether the part itself is in doubt, rather than this one answer of it

    def __init__(
        self, what: str, help_message: str = "", *, retry_after: int | None = None
    ) -> None:
        super().__init__(what, help_message)
        self.retry_after = retry_after  # seconds before which trying again is of no use


class StoreFailed(PartFailed):
    """The chunk index or the library could not be read."""

    part = "store"
    public = "The index or the texts cannot be read; the log says more."


class NoBooks(StoreFailed):
    """Nothing has been ingested."""

    retryable = False
    public = "There is no book to ask yet. Ingest one: `bythebook ingest PATH`."


class DamagedBook(StoreFailed):
    """Files of a published book are missing or changed; asking again does not help."""

    retryable = False

    def __init__(self, book_id: str, why: str, *, source: str = "SOURCE") -> None:
        super().__init__(
            f"The book {book_id!r} is damaged: {why}.",
            f"Ingest it again: `bythebook ingest {source} --book {book_id}`.",
        )
        self.book_id = book_id
        self.public = (
            f"The book {book_id!r} is damaged. Run `bythebook ingest SOURCE --book {book_id}`."
        )


class WrongEmbedder(StoreFailed):
    """The index was made by another embedder."""

    retryable = False
    public = "A book was indexed by another embedding model. Ingest it again."


class EmbedderFailed(PartFailed):
    """The question could not be embedded."""

    part = "embedder"
    public = "The embedding model failed; the log says more."


class ModelFailed(PartFailed):
    """The language model gave no usable answer."""

    part = "model"
    public = "The language model failed; the log says more."


class ModelTimeout(ModelFailed):
    """The language model did not answer in time, or stopped in the middle."""

    public = "The language model did not answer in time."


class BadAnswer(ModelFailed):
    """The language model works, but gave an unusable answer; a question can provoke this."""

    is_unwell = False


class LimiterFailed(PartFailed):
    """Requests cannot be counted together with other processes."""

    part = "limits"
    public = "Redis cannot be reached: each process counts requests for itself."


class RecordsFailed(PartFailed):
    """The records could not be read or written."""

    part = "database"
    public = "Records cannot be read or kept; the log says more."


class RecordsOutdated(RecordsFailed):
    """The tables are not those of this version."""

    retryable = False
    public = "The records are of another version. Run `bythebook migrate`."
