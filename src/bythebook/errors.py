"""What can go wrong, in our own words.

ByTheBookError
├── InputError            the caller can put it right: a path, a book, a value
│   ├── UnknownBook       no book of that name
│   ├── UnknownDocument   the book has no such document
│   ├── UnreadableBook    a source that no reader can make a book of
│   └── BadQuestions      a question set that cannot be read
├── BusyBook              another run is publishing this book
└── PartFailed            a part that an answer needs did not work
    ├── StoreFailed       the index or the texts beside it
    │   ├── NoBooks       the library is empty
    │   └── WrongEmbedder the index was built by another embedding model
    ├── EmbedderFailed    the embedding model
    └── RecordsFailed     the database of questions, conversations and keys
"""


class ByTheBookError(Exception):
    """A failure with a sentence for a person: what happened, and what to do about it."""

    retryable = False

    def __init__(self, what: str, help_message: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.help_message = help_message


class InputError(ByTheBookError):
    """Something the caller gave cannot be used."""


class UnknownBook(InputError):
    """No such book in the data folder."""


class UnknownDocument(InputError):
    """No such document in the book."""


class UnreadableBook(InputError):
    """The source is not a book that a reader can read."""


class BadQuestions(InputError):
    """The file is not a question set."""


class BusyBook(ByTheBookError):
    """Another run holds the book."""

    retryable = True


class PartFailed(ByTheBookError):
    """A part that the answer depends on failed; never answered without it."""

    retryable = True


class StoreFailed(PartFailed):
    """The chunk index or the library could not be read."""


class NoBooks(StoreFailed):
    """Nothing has been ingested."""

    retryable = False


class WrongEmbedder(StoreFailed):
    """The index and the embedder do not belong together."""

    retryable = False


class EmbedderFailed(PartFailed):
    """The question could not be embedded."""


class RecordsFailed(PartFailed):
    """The records could not be read or written."""
