"""Outcomes -> OpenAI's JSON: completions, chunks of a stream, models."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from bythebook.ask.show import advice, section_name
from bythebook.domain.answers import Answered, Outcome, RefusalType, Refused
from bythebook.domain.books import Book
from bythebook.http.contracts.fields import NearestSectionModel, to_nearest
from bythebook.http.contracts.query import REFUSAL_MESSAGES
from bythebook.http.openai_api.footnotes import FootnotedText, NotedQuote
from bythebook.http.openai_api.requests import LIBRARY
from bythebook.ports import Embedder


class UrlCitation(BaseModel):
    """A verbatim quote, and the part of the answer that it supports."""

    start_index: int = Field(ge=0, description="Where that part begins in the content.")
    end_index: int = Field(ge=0, description="Where it ends, its numbers included.")
    title: str = Field(description="Chapter, section and page of the quote.")
    url: str = Field(description="Opens the book at the quote.")
    permalink: str = Field(
        description="Opens the quote for as long as its words stand in the book, wherever they move."
    )
    quote: str = Field(description="The quote, verbatim.")
    number: int | None = Field(
        None, ge=1, description="Of its footnote; null where its sentence is only context."
    )
    book: str = Field(description="Id of the book.")
    document_id: str = Field(description="Page of the book that it stands in.")
    char_start: int = Field(ge=0, description="Offset of the quote in the document's .txt.")
    char_end: int = Field(ge=0, description="Offset after its last character.")


class Annotation(BaseModel):
    """A citation as this interface has it."""

    type: Literal["url_citation"] = Field("url_citation", description="Always this.")
    url_citation: UrlCitation = Field(description="The quote.")


class CompletionReply(BaseModel):
    """The answer, or the refusal, in words."""

    role: Literal["assistant"] = Field("assistant", description="Always this.")
    content: str = Field(min_length=1, description="The answer with numbered footnotes.")
    refusal: None = Field(None, description="Always null; see `bythebook.refusal_type`.")
    annotations: list[Annotation] = Field(
        default_factory=list, description="At least one for each sentence of an answer."
    )


class CompletionChoice(BaseModel):
    """The one reply."""

    index: Literal[0] = Field(0, description="Always 0.")
    message: CompletionReply = Field(description="The reply.")
    finish_reason: Literal["stop"] = Field("stop", description="Always this.")
    logprobs: None = Field(None, description="Always null.")


class CompletionUsage(BaseModel):
    """What a language model was sent and wrote; without one, the tokens of question and answer."""

    prompt_tokens: int = Field(ge=0, description="Tokens of what was asked.")
    completion_tokens: int = Field(ge=0, description="Tokens of what was answered.")
    total_tokens: int = Field(ge=0, description="Their sum.")


class BookVerdict(BaseModel):
    """What this interface has no field for."""

    status: Literal["success", "refused"] = Field(description="Whether the book answers.")
    refusal_type: RefusalType | None = Field(None, description="Why there is no answer.")
    nearest_sections: list[NearestSectionModel] = Field(
        default_factory=list, description="Where to read on after a refusal."
    )
    disclaimer: str | None = Field(
        None, description="What an answer opens with that is cautious or partial."
    )
    request_id: UUID = Field(description="As in X-Request-ID; feedback names it.")


class Completion(BaseModel):
    """A reply to a conversation."""

    id: str = Field(description="Made of the request's id.")
    object: Literal["chat.completion"] = Field("chat.completion", description="Always this.")
    created: int = Field(ge=0, description="When it was answered, in seconds since 1970.")
    model: str = Field(description="The model that was asked for.")
    choices: list[CompletionChoice] = Field(description="Exactly one.")
    usage: CompletionUsage = Field(description="What it took.")
    bythebook: BookVerdict = Field(description="The verdict.")


class _Sparse(BaseModel):
    """Leaves out what it does not have; this interface tells absent and null apart."""

    @model_serializer(mode="wrap")
    def _leave_out(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}


class ChunkDelta(_Sparse):
    """What a chunk adds to the reply."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: list[Annotation] | None = None


class ChunkChoice(BaseModel):
    """The one reply, as far as a chunk tells it."""

    index: Literal[0] = 0
    delta: ChunkDelta
    finish_reason: Literal["stop"] | None = None
    logprobs: None = None


class CompletionChunk(_Sparse):
    """A part of a streamed reply."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: CompletionUsage | None = None
    bythebook: BookVerdict | None = None


class ModelInfo(BaseModel):
    """A book, or the library, as a model."""

    id: str = Field(description="Name it as `model`.")
    object: Literal["model"] = Field("model", description="Always this.")
    created: int = Field(ge=0, description="When the book was published, in seconds since 1970.")
    owned_by: Literal["bythebook"] = Field("bythebook", description="Always this.")
    title: str = Field(description="Title of the book.")


class ModelList(BaseModel):
    """The models that this key may ask."""

    object: Literal["list"] = Field("list", description="Always this.")
    data: list[ModelInfo] = Field(description="The library first, then each book.")


class CompletionError(BaseModel):
    """What failed."""

    message: str = Field(min_length=1, description="A sentence for a person.")
    type: str = Field(description="Its kind, as this interface has them.")
    param: str | None = Field(None, description="The field that is wrong.")
    code: str | None = Field(None, description="What failed.")


class CompletionFailure(BaseModel):
    """A failure."""

    error: CompletionError = Field(description="What failed.")


def to_completion(
    outcome: Outcome, model: str, request_id: UUID, reply: CompletionReply, usage: CompletionUsage
) -> Completion:
    """Write a reply as a completion."""
    return Completion(
        id=completion_id(request_id),
        created=int(time.time()),
        model=model,
        choices=[CompletionChoice(message=reply)],
        usage=usage,
        bythebook=to_verdict(outcome, request_id),
    )


def write_reply(outcome: Outcome, written: FootnotedText) -> str:
    """Write an outcome as text."""
    if isinstance(outcome, Refused):
        return refusal_text(outcome)
    written.open(outcome.disclaimer)
    for sentence in outcome.sentences:
        written.add(sentence)
    written.close()
    return written.text


def refusal_text(outcome: Refused) -> str:
    """Write that there is no answer, what to try, and where to read on."""
    lines = [f"{REFUSAL_MESSAGES[outcome.refusal_type]}. {advice(outcome)}"]
    if outcome.nearest_sections:
        lines.append("Nearest sections:")
    links = dict.fromkeys(f"- [{section_name(n)}]({n.url})" for n in outcome.nearest_sections)
    return "\n\n".join([*lines, "\n".join(links)]).strip()


def completion_id(request_id: UUID) -> str:
    """Return the id of a completion."""
    return f"chatcmpl-{request_id.hex}"


def to_verdict(outcome: Outcome, request_id: UUID) -> BookVerdict:
    """Write the verdict."""
    if isinstance(outcome, Answered):
        return BookVerdict(status="success", disclaimer=outcome.disclaimer, request_id=request_id)
    return BookVerdict(
        status="refused",
        refusal_type=outcome.refusal_type,
        nearest_sections=to_nearest(outcome.nearest_sections),
        request_id=request_id,
    )


def to_annotations(quotes: Sequence[NotedQuote]) -> list[Annotation]:
    """Write citations."""
    return [Annotation(url_citation=_url_citation(noted)) for noted in quotes]


def _url_citation(noted: NotedQuote) -> UrlCitation:
    chunk = noted.citation.passage.chunk
    return UrlCitation(
        start_index=noted.start,
        end_index=noted.end,
        title=noted.citation.place,
        url=noted.link,
        permalink=noted.permalink,
        quote=noted.citation.quote,
        number=noted.number,
        book=chunk.book_id,
        document_id=chunk.document_id,
        char_start=noted.citation.char_start,
        char_end=noted.citation.char_end,
    )


def count_usage(asked: str, outcome: Outcome, text: str, embedder: Embedder) -> CompletionUsage:
    """Count what a language model took or, without one, the tokens of question and answer."""
    prompt, completion = outcome.usage.prompt, outcome.usage.completion
    if not outcome.usage.tokens:
        prompt, completion = embedder.count_tokens([asked, text])
    return CompletionUsage(
        prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion
    )


def to_models(books: Sequence[Book]) -> ModelList:
    """List the library and its books as models."""
    if not books:
        return ModelList(data=[])
    each = [_model(book.book_id, book.title, [book]) for book in books]
    return ModelList(data=[_model(LIBRARY, "All books", books), *each])


def _model(name: str, title: str, books: Sequence[Book]) -> ModelInfo:
    published = max(datetime.fromisoformat(book.published_at).timestamp() for book in books)
    return ModelInfo(id=name, title=title, created=int(published))
