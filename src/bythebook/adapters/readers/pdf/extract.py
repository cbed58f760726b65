"""The only place that opens a PDF: a process with little memory and no way out, under one that measures it.

Run as `python -m bythebook.adapters.readers.pdf.extract FILE FIRST_PAGE MEMORY_BYTES`; it prints JSON lines.
"""

import contextlib
import ctypes
import encodings.utf_16_le  # noqa: F401 - later no module can be loaded any more
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bythebook.adapters.readers.pdf.extraction import MOST_ENTRIES
from bythebook.adapters.readers.pdf.glyphs import PageText, read_runs
from bythebook.adapters.readers.pdf.strokes import read_rules

PROCESSOR_SECONDS = 600
MOST_PAGES = 20_000
DEEPEST_ENTRY = 12
FEW_RUNS = 3  # a scan may have a stamp
MOST_OBJECTS = 100  # searched for an image
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_OPEN_FILES = 4  # the standard ones and the book


def main(path: str, first_page: int, memory_bytes: int) -> None:
    """Extract in a child process, and print last how much memory it used, however it ended."""
    _die_with_parent()
    worker = os.fork()
    if not worker:
        _die_with_parent()
        _limit(memory_bytes)
        _extract(path, first_page)
        return
    # The reader stops an extraction that takes too long; its memory is still worth knowing.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(worker, signal.SIGKILL))
    _, _, usage = os.wait4(worker, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stdout.write("\n")  # a killed worker may leave half a line
    _say({"peak": usage.ru_maxrss * 1024})


def _extract(path: str, first_page: int) -> None:
    """Print the pages of a book from one page on, then its outline."""
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadDocument(path.encode(errors="surrogateescape") + b"\0", None)
    if not document:
        _say({"refused": _refusal()})
        return
    # From here on no file or socket can be opened.
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    count = pdfium.FPDF_GetPageCount(document)
    _say({"pages": min(count, MOST_PAGES), "claimed": count, "title": _title(document)})
    for number in range(first_page, min(count, MOST_PAGES)):
        _say(_page(document, number))
    _say({"outline": list(_outline(document))})
    _say({"end": True})


def _die_with_parent() -> None:
    """Ask the kernel to end this process when its parent ends for any reason."""
    parent = os.getppid()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _limit(memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def _refusal() -> str:
    error = pdfium.FPDF_GetLastError()
    if error in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
        return "password"
    return "file" if error == pdfium.FPDF_ERR_FILE else "format"


def _page(document: pdfium.FPDF_DOCUMENT, number: int) -> dict[str, object]:
    page = pdfium.FPDF_LoadPage(document, number)
    if not page:
        return {"page": number, "unreadable": True}
    text_page = pdfium.FPDFText_LoadPage(page)
    try:
        if not text_page:
            return {"page": number, "unreadable": True}
        text: PageText = read_runs(text_page)
        return {
            "page": number,
            "label": _label(document, number),
            "cut": text.cut,
            "picture": len(text.runs) <= FEW_RUNS and _has_picture(page),
            "runs": text.runs,
            "rules": [] if text.turn else read_rules(page),
        }
    finally:
        pdfium.FPDFText_ClosePage(text_page)
        pdfium.FPDF_ClosePage(page)


def _has_picture(page: pdfium.FPDF_PAGE) -> bool:
    """Return True if a page with little text contains an image: it is probably a scan."""
    for number in range(min(pdfium.FPDFPage_CountObjects(page), MOST_OBJECTS)):
        kind = pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page, number))
        if kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM):
            return True
    return False


def _label(document: pdfium.FPDF_DOCUMENT, number: int) -> str:
    size = pdfium.FPDF_GetPageLabel(document, number, None, 0)
    if not 2 < size < 400:  # bytes of UTF-16, with its end
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDF_GetPageLabel(document, number, buffer, size)
    return _words(buffer)


def _title(document: pdfium.FPDF_DOCUMENT) -> str:
    size = pdfium.FPDF_GetMetaText(document, b"Title\0", None, 0)
    if not 2 < size < 4_000:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDF_GetMetaText(document, b"Title\0", buffer, size)
    return _words(buffer)


def _words(buffer: ctypes.Array[ctypes.c_char]) -> str:
    return buffer.raw.decode("utf-16-le", "ignore").split("\0")[0]


def _outline(document: pdfium.FPDF_DOCUMENT) -> Iterator[tuple[int, str, int, float]]:
    """Walk the outline safely: it may contain loops or have no end."""
    seen: set[int] = set()
    waiting = [(0, pdfium.FPDFBookmark_GetFirstChild(document, None))]
    while waiting and len(seen) < MOST_ENTRIES:
        level, entry = waiting.pop()
        if not entry or (address := ctypes.addressof(entry.contents)) in seen:
            continue
        seen.add(address)
        yield from _entry(document, entry, level)
        waiting.append((level, pdfium.FPDFBookmark_GetNextSibling(document, entry)))
        if level < DEEPEST_ENTRY:
            waiting.append((level + 1, pdfium.FPDFBookmark_GetFirstChild(document, entry)))


def _entry(
    document: pdfium.FPDF_DOCUMENT, entry: pdfium.FPDF_BOOKMARK, level: int
) -> Iterator[tuple[int, str, int, float]]:
    size = pdfium.FPDFBookmark_GetTitle(entry, None, 0)
    target = pdfium.FPDFBookmark_GetDest(document, entry)
    if not target and (action := pdfium.FPDFBookmark_GetAction(entry)):
        target = pdfium.FPDFAction_GetDest(document, action)
    if not target or not 2 < size < 4_000:
        return
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFBookmark_GetTitle(entry, buffer, size)
    page = pdfium.FPDFDest_GetDestPageIndex(document, target)
    yield level, _words(buffer), page, _height(target)


def _height(target: pdfium.FPDF_DEST) -> float:
    """Return the height on the page that an entry leads to; the top if it has none."""
    has = [ctypes.c_int() for _ in range(3)]
    place = [ctypes.c_float() for _ in range(3)]
    pdfium.FPDFDest_GetLocationInPage(target, *has, *place)
    height = place[1].value
    if has[1].value and -1e5 < height < 1e5:
        return round(height, 1)
    count = ctypes.c_ulong()
    values = (ctypes.c_float * 4)()
    view = pdfium.FPDFDest_GetView(target, count, values)
    if view in (pdfium.PDFDEST_VIEW_FITH, pdfium.PDFDEST_VIEW_FITBH) and count.value:
        return round(values[0], 1) if -1e5 < values[0] < 1e5 else 1e5
    return 1e5


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
