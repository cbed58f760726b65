"""Small things that went wrong before: empty exports, hints and links that lead nowhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from tools.attack.service import QUESTION, Check, run_command, serve_attacked

from bythebook.http.authors.models.queries import Table


def attack(folder: Path) -> Iterator[Check]:
    """Run the small checks."""
    yield from _exports(folder)
    yield _no_such_book(folder)
    yield _ipv6_hint(folder)
    yield _links(folder)


def _exports(folder: Path) -> Iterator[Check]:
    with serve_attacked(folder) as service:
        statuses = {
            table: service.send("GET", f"/admin/export/{table}").status for table in get_args(Table)
        }
    yield Check("exports of no rows", set(statuses.values()) == {200}, str(statuses))


def _no_such_book(folder: Path) -> Check:
    done = run_command(folder, "books", "remove", "nosuch", given="")
    asked = "?" in done.stdout
    return Check(
        "`books remove nosuch`", done.returncode == 2 and not asked, done.stderr.strip()[:80]
    )


def _ipv6_hint(folder: Path) -> Check:
    """Follow the hint to allow a host, and see that it is accepted."""
    refused = run_command(folder, "ingest", "http://[::1]:9/")
    hint = re.search(r"add (\S+) to BYTHEBOOK_ALLOWED_HOSTS", refused.stderr + refused.stdout)
    if hint is None:
        return Check("the hint for an IPv6 host", passed=False, found=refused.stderr[:100])
    allowed = run_command(
        folder, "ingest", "http://[::1]:9/", settings={"BYTHEBOOK_ALLOWED_HOSTS": hint[1]}
    )
    taken = "BYTHEBOOK_ALLOWED_HOSTS" not in allowed.stderr + allowed.stdout
    return Check("the hint for an IPv6 host", taken, hint[1])


def _links(folder: Path) -> Check:
    with serve_attacked(folder) as service:
        asked = run_command(folder, "ask", QUESTION)
    ports = set(re.findall(r"http://127\.0\.0\.1:(\d+)/", asked.stdout))
    return Check("links of `ask` while a service runs", ports == {str(service.port)}, str(ports))
