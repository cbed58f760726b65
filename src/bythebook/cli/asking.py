"""`ask`: a question at the terminal."""

import asyncio
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.text import Text

from bythebook.ask import AskPorts, collect
from bythebook.ask.show import advice, key_citations, quote_link, section_name, split_answer
from bythebook.cli.core import open_core
from bythebook.cli.styled_quotes import style_quote, style_sentence
from bythebook.cli.terminal import out, say, say_pieces
from bythebook.domain.answers import Answered, Outcome
from bythebook.errors import InputError
from bythebook.http.contracts.query import (
    REFUSAL_MESSAGES,
    QueryRequest,
    ResponseMetadata,
    to_question,
    to_response,
)
from bythebook.http.wire.problems import field_message
from bythebook.ports import Library


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    book: Annotated[str | None, typer.Option(help="Id of the book; default: all books.")] = None,
    selected_text: Annotated[str | None, typer.Option(help="Answer from this text only.")] = None,
    top_k: Annotated[int, typer.Option(help="How many chunks to retrieve, 1 to 20.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print contract A's envelope.")] = False,
) -> None:
    """Ask the book. Exit code 0: answered, 1: the book does not say, 2: an error."""
    request = _request(question, book, selected_text, top_k)
    started = time.perf_counter()
    with open_core() as core:
        running = core.running_url()
        reader_url = running or core.settings.reader_url  # which `serve` would listen on
        ports = replace(core.ask, reader_url=reader_url)
        outcome = asyncio.run(collect(to_question(request), ports))
    if as_json:
        metadata = ResponseMetadata(
            chunks_retrieved=len(outcome.passages),
            processing_time_ms=round((time.perf_counter() - started) * 1000),
            request_id=uuid.uuid4(),
            timestamp=datetime.now(UTC),
        )
        typer.echo(to_response(outcome, reader_url, metadata).model_dump_json(indent=2))
    else:
        links = _show(outcome, ports)
        if running is None and any(link.startswith(f"{reader_url}/") for link in links):
            say("No service is running here. Start one to open these links: bythebook serve", "dim")
    raise typer.Exit(0 if isinstance(outcome, Answered) else 1)


def _request(
    question: str, book: str | None, selected_text: str | None, top_k: int
) -> QueryRequest:
    """Apply the limits of the contract to the options."""
    try:
        return QueryRequest(
            query=question, book=book, selected_text=selected_text, top_k=top_k, session_id=None
        )
    except ValidationError as error:
        raise InputError(
            field_message(error.errors()[0]), "`bythebook ask --help` shows the limits."
        ) from error


def _show(outcome: Outcome, ports: AskPorts) -> list[str]:
    """Print an answer or a refusal, and give the links in it."""
    links = []
    reader_url = ports.reader_url
    if isinstance(outcome, Answered):
        if outcome.disclaimer:
            say(outcome.disclaimer, "italic")
        say_pieces(_style_answer(outcome, ports.library))
        for number, citation in enumerate(key_citations(outcome.sentences), 1):
            say()
            quote = style_quote(citation, ports.library)
            out.print(Text.assemble((f"[{number}] “", "dim"), quote, ("”", "dim")))
            say(f"    {citation.place}")
            if not citation.passage.is_selection:
                links.append(quote_link(citation, reader_url))
                say(f"    {links[-1]}", "cyan")
        return links
    say(f"{REFUSAL_MESSAGES[outcome.refusal_type]}.", "bold")
    say(advice(outcome))
    if outcome.nearest_sections:
        say("Nearest sections:")
    for near in outcome.nearest_sections:
        say(f"  {section_name(near)}")
        links.append(near.url)
        say(f"    {near.url}", "cyan")
    return links


def _style_answer(outcome: Answered, library: Library) -> Iterator[Text]:
    """Yield the answer in styled pieces: key sentences are bold among their context."""
    whole = len(outcome.key_sentences) == len(outcome.sentences)
    for sentence, (between, text) in zip(
        outcome.sentences, split_answer(outcome.sentences), strict=True
    ):
        yield Text(between)
        style = "bold" if sentence.key and not whole else ""
        yield style_sentence(text, sentence.citations[0], library, style)
