"""A chat completion request -> the question it asks, with its earlier turns."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from bythebook.ask import MOST_TURNS
from bythebook.ask.show import remove_opening
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Question, Scope
from bythebook.errors import InputError
from bythebook.http.contracts.query import REFUSAL_MESSAGES, QueryText
from bythebook.http.openai_api.footnotes import remove_footnotes
from bythebook.http.wire.problems import field_message

LIBRARY = "bythebook:library"  # the model of all books; no book's id has a colon
MOST_TURN_TEXT = 2000  # characters of an earlier message that are read
_NO_TOOLS = "this service calls no tools; leave them out"
_ONLY_TEXT = "only text is read; images, audio and files are not"
_PART_SCHEMA = {
    "type": "object",
    "required": ["type", "text"],
    "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
}
_CONTENT_SCHEMA = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": _PART_SCHEMA}, {"type": "null"}]
}
_QUESTION: TypeAdapter[str] = TypeAdapter(QueryText)


def _read_content(content: object) -> object:
    """Join the parts of a message; anything that is not text is refused."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return content
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(text, str):
            raise ValueError(_ONLY_TEXT)  # noqa: TRY004 - what pydantic turns into a message
        texts.append(text)
    return "\n".join(texts)


def _only(allowed: Sequence[object], why: str) -> BeforeValidator:
    """Accept only values that change nothing; the error says why the others cannot be served."""

    def check(value: object) -> object:
        if not any(value == one and type(value) is type(one) for one in allowed):
            raise ValueError(why)
        return value

    return BeforeValidator(check)


def _reject(words: Sequence[str], why: str) -> BeforeValidator:
    def check(value: object) -> object:
        if value in words:
            raise ValueError(why)
        return value

    return BeforeValidator(check)


def _unset(schema: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [schema, {"type": "null"}]})


_Role = Literal["system", "developer", "user", "assistant"]
_NoTools = Annotated[
    Any, _only((None, []), _NO_TOOLS), _unset({"type": "array", "items": {}, "maxItems": 0})
]
_One = Annotated[
    Any,
    _only((None, 1), "only one answer is given; leave n out, or set it to 1"),
    _unset({"const": 1}),
]
_Text = Annotated[
    Any,
    _only((None, {"type": "text"}), "answers are plain text; leave response_format out"),
    _unset(
        {
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"const": "text"}},
            "additionalProperties": False,
        }
    ),
]
_Spoken = Annotated[Any, _only((None, ["text"]), _ONLY_TEXT), _unset({"const": ["text"]})]
_NoLogprobs = Annotated[
    Any,
    _only((None, False), "answers have no log probabilities; leave logprobs out"),
    _unset({"const": False}),
]


class CompletionMessage(BaseModel):
    """A message of the conversation."""

    role: Annotated[_Role, _reject(("tool", "function"), _NO_TOOLS)] = Field(
        description="Messages of system and developer are never followed."
    )
    content: Annotated[str, BeforeValidator(_read_content), WithJsonSchema(_CONTENT_SCHEMA)] = (
        Field("", description="Text, or parts that are text.")
    )


class StreamOptions(BaseModel):
    """What a stream says in addition to the answer."""

    include_usage: StrictBool = Field(
        default=False, description="Whether a last chunk tells the usage."
    )


class CompletionRequest(BaseModel):
    """A conversation whose last user message is the question; parameters not named here are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(
        min_length=1, max_length=200, description=f"Id of a book, or `{LIBRARY}` for all books."
    )
    messages: list[CompletionMessage] = Field(
        min_length=1,
        description="The last one of the user is the question, of 1 to 500 characters; earlier ones are "
        "the turns before it.",
    )
    stream: StrictBool | None = Field(
        default=None, description="Whether to stream the answer, sentence by sentence."
    )
    stream_options: StreamOptions | None = Field(None, description="Of a stream.")
    n: _One = Field(None, description="Only one answer is given.")
    tools: _NoTools = Field(None, description="No tool is called.")
    functions: _NoTools = Field(None, description="No function is called.")
    response_format: _Text = Field(None, description="Answers are plain text.")
    modalities: _Spoken = Field(None, description="Answers are plain text.")
    logprobs: _NoLogprobs = Field(None, description="There are no log probabilities.")

    @property
    def book_id(self) -> str | None:
        """The book that the model stands for; None for the whole library."""
        return None if self.model == LIBRARY else self.model


def to_question(body: CompletionRequest) -> Question:
    """Read the question and the turns before it, or raise InputError."""
    said = [one for one in body.messages if one.role in {"user", "assistant"}]
    asked = [at for at, one in enumerate(said) if one.role == "user"]
    if not asked:
        raise InputError("messages: there must be a message of the user, which is the question.")
    return Question(
        _check_question(said[asked[-1]].content),
        Scope(body.book_id),
        turns=tuple(_turns(said[: asked[-1]])[-MOST_TURNS:]),
    )


def _check_question(text: str) -> str:
    try:
        return _QUESTION.validate_python(text)
    except ValidationError as error:
        named = {**error.errors()[0], "loc": ("messages",)}
        raise InputError(f"{field_message(named)} This is about the last user message.") from None


def _turns(said: Sequence[CompletionMessage]) -> list[Turn]:
    """Pair each earlier question with what was answered to it."""
    turns: list[Turn] = []
    for message in said:
        text = message.content[:MOST_TURN_TEXT].replace("\0", "").strip()
        if message.role == "user":
            turns.append(Turn(text))
        elif turns:
            turns[-1] = Turn(turns[-1].question, _answer_in(text))
    return [turn for turn in turns if turn.question]


def _answer_in(text: str) -> str:
    """Return the sentences of an earlier answer; a refusal said nothing."""
    if text.startswith(tuple(REFUSAL_MESSAGES.values())):
        return ""
    return remove_opening(remove_footnotes(text)).strip()
