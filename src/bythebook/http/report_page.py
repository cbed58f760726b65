"""The report of an ingest run as a page: what was read, what is in the index, what is not and why."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from bythebook.domain.reports import DocumentReport, IngestReport


def report_file(report: IngestReport) -> str:
    """Write a page that stands by itself."""
    style = files("bythebook.web").joinpath("reader.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(report.title)}: report</title><style>{style}</style></head>"
        f"<body><main>{report_body(report)}</main></body></html>\n"
    )


def report_body(report: IngestReport) -> str:
    """Write the report, what needs looking at first."""
    return "\n".join(
        (
            f"<h1>How {escape(report.title)} was read</h1>",
            _summary(report),
            _list("Skipped", (f"{part.name}: {part.reason}" for part in report.skipped)),
            _list("Notes", report.warnings),
            _list(
                "Broken links",
                (f"{link.document_id} → {link.target}" for link in report.broken_links),
            ),
            _left_out(report),
            _documents("Slowest documents", report.slowest()),
            _documents("All documents", report.documents),
        )
    )


def _summary(report: IngestReport) -> str:
    rows = {
        "Source": f"{report.source}, read as {report.reader}",
        "Documents": f"{len(report.documents):,}",
        "Characters": f"{report.characters:,} (without white space)",
        "In the index": _percent(report.coverage),
        "Chunks": f"{report.chunks:,}: {report.added:,} new, {report.kept:,} kept, "
        f"{report.removed:,} removed",
        "Embedded": f"{report.embedded:,} chunks, {report.tokens:,} tokens"
        + (f", about ${report.cost_usd:.4f}" if report.cost_usd else ""),
        "Time": f"{report.seconds:.1f} s",
    }
    cells = "".join(
        f'<tr><th scope="row">{name}</th><td>{escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{cells}</table>"


def _list(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _left_out(report: IngestReport) -> str:
    rows = [(reason, f"{count:,}") for reason, count in report.left_out.items()]
    return f"<h2>Left out</h2>{_table(('Reason', 'Characters'), rows)}" if rows else ""


def _documents(title: str, documents: Sequence[DocumentReport]) -> str:
    head = ("Document", "Characters", "In the index", "Left out", "Chunks", "Seconds")
    return f"<h2>{title}</h2>{_table(head, [_row(document) for document in documents])}"


def _row(document: DocumentReport) -> tuple[str, ...]:
    left = ", ".join(f"{reason} {count:,}" for reason, count in document.left_out.items())
    return (
        f"{document.title} ({document.document_id})",
        f"{document.characters:,}",
        _percent(document.coverage),
        left,
        f"{document.chunks:,}",
        "kept" if document.kept else f"{document.seconds:.2f}",
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
