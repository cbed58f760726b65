"""The report of an ingest run as a page: what was read, what is in the index, what is not and why."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from bythebook.domain.reports import DocumentReport, IngestReport
from bythebook.http.pages.render import render


def render_report(report: IngestReport) -> str:
    """Write a page that needs no other file."""
    return render(
        "ingest_report.html",
        title=report.title,
        style=files("bythebook.web").joinpath("reader.css").read_text("utf-8"),
        summary=_summarize(report),
        lists={
            "Skipped": [f"{part.name}: {part.reason}" for part in report.skipped],
            "Notes": report.warnings,
            "Broken links": [f"{link.document_id} → {link.target}" for link in report.broken_links],
            "Pictures not shown": [
                f"{one.document_id}: {one.target}: {one.reason}" for one in report.lost_pictures
            ],
        },
        left_out=[(reason, f"{count:,}") for reason, count in report.left_out.items()],
        tables={
            "Slowest documents": list(map(_make_row, report.slowest())),
            "All documents": list(map(_make_row, report.documents)),
        },
    )


def _summarize(report: IngestReport) -> Mapping[str, str]:
    cited = {"Recent citations": str(report.citations)} if report.citations else {}
    cost = f", about ${report.cost_usd:.4f}" if report.cost_usd else ""
    return {
        "Source": f"{report.source}, read as {report.reader}",
        "Documents": f"{len(report.documents):,}",
        "Characters": f"{report.characters:,} (without white space)",
        "In the index": _format_percent(report.coverage),
        "Chunks": f"{report.chunks:,}: {report.added:,} new, {report.kept:,} kept, "
        f"{report.removed:,} removed",
        "Embedded": f"{report.embedded:,} chunks, {report.tokens:,} tokens{cost}",
        **cited,
        "Time": f"{report.seconds:.1f} s",
    }


def _make_row(document: DocumentReport) -> Sequence[str]:
    left = ", ".join(f"{reason} {count:,}" for reason, count in document.left_out.items())
    return (
        f"{document.title} ({document.document_id})",
        f"{document.characters:,}",
        _format_percent(document.coverage),
        left,
        f"{document.chunks:,}",
        "kept" if document.kept else f"{document.seconds:.2f}",
    )


def _format_percent(share: float) -> str:
    return f"{100 * share:.2f} %"
