"""Files that are damaged or missing, and bombs: noticed, named, and bounded."""

import resource
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from tools.attack.service import BOOK, Check, run_command, serve_attacked

_REPAIR = "bythebook ingest"
_BOMB_BYTES = 300_000_000  # that one stream of the PDF unpacks to
_BOMB_STREAMS = 4


def attack(folder: Path) -> Iterator[Check]:
    """Run the attacks on files."""
    yield from _bomb(folder)
    yield _change_byte(folder)
    yield from _remove_documents(folder)


def _bomb(folder: Path) -> Iterator[Check]:
    """Ingest a small PDF whose streams unpack hugely, and measure the memory of all that reads it."""
    path = folder / "bomb.pdf"
    path.write_bytes(_make_bomb())
    started = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run(
        [sys.executable, "-m", "bythebook", "ingest", str(path), "--book", "bomb"],
        env={"PATH": "/usr/bin:/bin", "BYTHEBOOK_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    peak = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
    said = (done.stderr + done.stdout).strip().replace("\n", " ")
    yield Check(
        f"a PDF of {path.stat().st_size // 1000} KB that unpacks to {_BOMB_STREAMS * _BOMB_BYTES // 10**6} MB",
        done.returncode != 0 and peak < 1000 and "bomb" in said.lower(),
        f"{peak:.0f} MB at most, {time.monotonic() - started:.0f} s: {said[-120:]}",
    )
    path.unlink()


def _make_bomb() -> bytes:
    stream = zlib.compress(b"(a) Tj " * (_BOMB_BYTES // 7), 9)
    numbers = range(4, 4 + _BOMB_STREAMS)
    contents = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents [{contents}] >>".encode(),
    ]
    head = f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode()
    objects += [head + stream + b"\nendstream" for _ in numbers]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    size = len(objects) + 1
    return (
        out
        + f"xref\n0 {size}\n0000000000 65535 f \n".encode()
        + table
        + f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF".encode()
    )


def _documents(folder: Path) -> Path:
    (home,) = (folder / "books" / BOOK / "generations").iterdir()
    return home / "documents"


def _change_byte(folder: Path) -> Check:
    file = max(_documents(folder).iterdir(), key=lambda path: path.stat().st_size)
    kept = file.read_bytes()
    file.write_bytes(kept[:2000] + bytes([kept[2000] ^ 1]) + kept[2001:])
    done = run_command(folder, "doctor", "--deep")
    file.write_bytes(kept)
    line = next((line for line in done.stdout.splitlines() if line.startswith("FIX")), "")
    named = BOOK in line and file.name in line and _REPAIR in line
    return Check("one changed bit, `doctor --deep`", done.returncode == 1 and named, line[-110:])


def _remove_documents(folder: Path) -> Iterator[Check]:
    shutil.rmtree(_documents(folder))
    with serve_attacked(folder) as service:
        log = service.log.read_text()
        health = service.send("GET", "/health").value
        reply = service.send("GET", f"/read/{BOOK}/glossary", headers={"Accept": "text/html"})
        said = reply.body.decode()
    yield Check("missing documents, in the log at start", BOOK in log and _REPAIR in log, "named")
    yield Check("... by /health", health["status"] == "degraded", health["status"])
    yield Check(
        "... by a page of the book",
        reply.status == 503 and BOOK in said and _REPAIR in said,
        f"{reply.status}, with the command" if _REPAIR in said else f"{reply.status}",
    )
