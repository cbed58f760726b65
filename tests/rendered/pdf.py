"""The sample book as a printed PDF, with an outline, running headers and page numbers."""

from html import escape
from pathlib import Path

from tests.rendered.chromium import print_pdf
from tests.rendered.content import Address, Rendering, render
from tests.rendered.sample import ROOT, TITLE, SamplePage, sample_pages

_STYLE = """
body { font: 11pt/1.4 serif; }
section { break-before: page; }
h1, h2, h3, h4 { font-family: sans-serif; break-after: avoid; }
pre { font: 8.5pt/1.3 monospace; white-space: pre-wrap; background: #f4f4f4; padding: 6pt; }
table { border-collapse: collapse; } th, td { border: 0.5pt solid #888; padding: 3pt 5pt; }
.alert { border-left: 2pt solid #888; padding-left: 8pt; } .admonitionHeading { font-weight: bold; }
.codeBlockTitle { font: italic 9pt sans-serif; }
img { max-width: 100%; max-height: 9cm; }
"""
_RUNNING = '<div style="font-size: 8pt; width: 100%; text-align: center">{}</div>'


def render_pdf(folder: Path) -> Path:
    """Print the whole book from one page of HTML."""
    html = folder / "book.html"
    html.write_text(_book(), "utf-8")
    pdf = folder / "book.pdf"
    options = {
        "displayHeaderFooter": True,
        "headerTemplate": _RUNNING.format(escape(TITLE)),
        "footerTemplate": _RUNNING.format('<span class="pageNumber"></span>'),
        "generateDocumentOutline": True,
        "generateTaggedPDF": True,
        "marginTop": 0.8,
        "marginBottom": 0.8,
    }
    print_pdf(html, pdf, folder / "profile", options)
    return pdf


def _book() -> str:
    pages = sample_pages()
    marks = {page.file: f"p{number}-" for number, page in enumerate(pages)}

    def address(file: str, anchor: str) -> str:
        return f"#{marks[file]}{anchor or 'top'}"

    sections = "".join(_section(page, marks[page.file], address) for page in pages)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(TITLE)}</title>'
        f"<style>{_STYLE}</style></head><body>{sections}</body></html>"
    )


def _section(page: SamplePage, mark: str, address: Address) -> str:
    below = 1 if page.chapter and not page.opens_chapter else 0
    images = (ROOT / "static" / "img").resolve().as_uri()
    how = Rendering(page.file, "print", address, images, lower_headings=below, anchors=mark)
    html = render(page.body, how).html.replace("<details>", "<details open>")
    return f'<section id="{mark}top">{html}</section>'
