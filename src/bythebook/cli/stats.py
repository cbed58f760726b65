"""`stats`: what readers asked, and what the book left unanswered."""

import asyncio
import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from bythebook.bootstrap import Core
from bythebook.cli.core import open_core
from bythebook.cli.terminal import out, say
from bythebook.domain.records import AskedQuestion, DayCount, QueryStats
from bythebook.errors import InputError

_DAY = timedelta(days=1)
_BAR = 30  # characters of the longest bar
_DATES = ["%Y-%m-%d"]


def stats(
    days: Annotated[int, typer.Option(help="How many days, including today.", min=1)] = 30,
    since: Annotated[
        datetime | None,
        typer.Option(formats=_DATES, help="First day (UTC); instead of --days."),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=_DATES, help="Last day (UTC); default: today.")
    ] = None,
    book: Annotated[
        str | None, typer.Option(help="Only questions to this book, or best found in it.")
    ] = None,
    most: Annotated[int, typer.Option(help="Length of each list.", min=1, max=1000)] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Summarize what readers asked; works while the service runs."""
    first, end = _period(days, since, until)
    with open_core() as core:
        found = asyncio.run(_read(core, first, end, book, most))
    if as_json:
        out.print_json(json.dumps(_values(found, first, end)))
        return
    say(f"{first:%Y-%m-%d} to {end - _DAY:%Y-%m-%d} (UTC)", "bold")
    if not found.questions:
        say("No question was recorded in this period.")
        return
    _print_sums(found)
    _print_days(found.per_day)
    _print_asked("Most asked", found.most_asked)
    _print_asked("Most refused, with the nearest section", found.most_refused)
    _print_chapters(found)
    _print_models(found)
    _print_feedback(found)


def _period(days: int, since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
    """Return the first moment of the period and the first after it."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        last = until.replace(tzinfo=UTC) if until else today
        first = since.replace(tzinfo=UTC) if since else last - (days - 1) * _DAY
        end = last + _DAY
    except OverflowError:
        raise InputError("That period reaches beyond the calendar.", "Ask for less.") from None
    if first >= end:
        raise InputError("The first day is after the last.", "Put --since and --until right.")
    return first, end


async def _read(
    core: Core, first: datetime, end: datetime, book: str | None, most: int
) -> QueryStats:
    from bythebook.adapters.sql.questions.query_log import SqlQueryLog

    async with core.database() as database:
        return await SqlQueryLog(database).stats(first, end, book_id=book, most=most)


def _values(found: QueryStats, first: datetime, end: datetime) -> dict[str, Any]:
    values = asdict(found) | {"refusal_rates": found.refusal_rates}
    for model_values, one in zip(values["models"], found.models, strict=True):
        model_values["dropped_share"] = one.dropped_share
    period = {"since": first.date(), "until": (end - _DAY).date()}
    plain: dict[str, Any] = json.loads(json.dumps(period | values, default=_plain))
    return plain


def _plain(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _print_sums(found: QueryStats) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right", style="dim")

    def row(name: str, count: int) -> None:
        table.add_row(name, f"{count:,}", f"{count / found.questions:.1%}")

    row("Questions", found.questions)
    row("Answered", found.by_status.get("success", 0))
    row("Refused", found.by_status.get("refused", 0))
    for kind, count in sorted(found.refusals.items(), key=lambda item: -item[1]):
        row(f"  {kind}", count)
    row("Failed", found.by_status.get("error", 0))
    row("Borderline", found.borderline)
    out.print(table)


def _print_days(per_day: tuple[DayCount, ...]) -> None:
    counts = {one.day: one.questions for one in per_day}
    highest = max(counts.values())
    table = _table("Questions per day")
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="cyan")
    day = min(counts)
    while day <= max(counts):
        count = counts.get(day, 0)
        bar = "█" * (-(-count * _BAR // highest))  # at least one for a day with a question
        table.add_row(day.isoformat(), f"{count:,}", bar)
        day += _DAY
    out.print(table)


def _print_asked(title: str, questions: tuple[AskedQuestion, ...]) -> None:
    if not questions:
        return
    table = _table(title)
    table.add_column(justify="right")
    table.add_column()
    table.add_column(style="dim")
    for asked in questions:
        near = asked.nearest_section
        place = " › ".join(filter(None, (near.chapter, near.section))) if near else ""
        table.add_row(f"{asked.times:,}", Text(_line(asked.text)), Text(_line(place)))
    out.print(table)


def _print_chapters(found: QueryStats) -> None:
    if not found.most_cited:
        return
    table = _table("Most cited chapters")
    table.add_column(justify="right")
    table.add_column()
    table.add_column(style="dim")
    for cited in found.most_cited:
        table.add_row(f"{cited.times:,}", Text(_line(cited.chapter)), Text(cited.book_id))
    out.print(table)


def _print_models(found: QueryStats) -> None:
    if not found.models:
        return
    table = _table("Language models: sentences that the book does not support were dropped")
    table.add_column()
    for _ in range(4):
        table.add_column(justify="right")
    for one in found.models:
        price = "" if one.usd is None else f"${one.usd:,.4f}"
        dropped = f"{one.dropped:,} of {one.sentences:,} sentences dropped"
        share = f"{one.dropped_share:.1%}"
        table.add_row(Text(_line(one.model)), dropped, share, f"{one.tokens:,} tokens", price)
    out.print(table)


def _print_feedback(found: QueryStats) -> None:
    if not (found.helpful or found.not_helpful):
        return
    table = _table(f"Feedback: {found.helpful:,} helpful, {found.not_helpful:,} not")
    table.add_column(style="dim")
    table.add_column()
    table.add_column()
    for word in found.latest_reasons:
        verdict = "helpful" if word.helpful else "not"
        table.add_row(f"{word.created_at:%Y-%m-%d}", verdict, Text(_line(word.reason or "")))
    out.print(table)


def _table(title: str) -> Table:
    say()
    say(title, "bold")
    return Table(box=None, show_header=False, pad_edge=False)


def _line(text: str) -> str:
    """Put a reader's text on one line, without control characters."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
