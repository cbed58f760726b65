"""Keys, proxies and other sites: nothing opens that should be closed."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.attack.service import QUESTION, AttackedService, Check, run_command, serve_attacked

_PROXY_HEADERS = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Host": "book.example.org",
    "Forwarded": "for=203.0.113.9",
    "X-Real-IP": "203.0.113.9",
    "Via": "1.1 proxy",
}
_ROUTES = ("/", "/admin", "/openapi.json", "/read/physical-ai", "/search?q=robots")
_ORIGIN = "https://book.example.org"


def attack(folder: Path) -> Iterator[Check]:
    """Run the attacks on an open service, then on one with keys."""
    with serve_attacked(folder) as service:
        yield _proxies(service)
        yield _health_behind_proxy(service)
        yield _other_names(service)
        yield from _other_sites(service)
        yield _first_key(service)
        yield _revoke_key(service)


def _ask(service: AttackedService, headers: dict[str, str]) -> int:
    return service.send("POST", "/api/query", {"query": QUESTION}, headers).status


def _proxies(service: AttackedService) -> Check:
    statuses = Counter(_ask(service, {name: value}) for name, value in _PROXY_HEADERS.items())
    for name, value in _PROXY_HEADERS.items():
        statuses.update(service.send("GET", path, headers={name: value}).status for path in _ROUTES)
    return Check("an open service behind a proxy", set(statuses) == {403}, str(dict(statuses)))


def _health_behind_proxy(service: AttackedService) -> Check:
    status = service.send("GET", "/livez", headers={"X-Forwarded-For": "203.0.113.9"}).status
    return Check("health checks behind a proxy", status == 200, str(status))


def _other_names(service: AttackedService) -> Check:
    found = {
        path: service.send("GET", path, headers={"Host": "evil.example"}).status for path in _ROUTES
    }
    return Check(
        "another name in Host", set(found.values()) == {403}, str(sorted(set(found.values())))
    )


def _other_sites(service: AttackedService) -> Iterator[Check]:
    other = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}
    asked = {_ask(service, other), service.send("GET", "/search?q=robots", headers=other).status}
    yield Check("asked by a page of another site", asked == {403}, str(sorted(asked)))
    page = service.send("GET", "/?q=What+is+URDF", headers={**other, "Accept": "text/html"})
    answered = b"Read it in the book" in page.body or b'class="reply' in page.body
    filled = b"What is URDF" in page.body
    yield Check(
        "a shared link opened from another site",
        filled and not answered,
        "fills the field and does not ask" if filled and not answered else "asks",
    )


def _create_key(service: AttackedService, *options: str) -> tuple[str, str]:
    made = run_command(service.folder, "keys", "create", "--scope", "ask", "--json", *options)
    if made.returncode:
        raise SystemExit(f"No key was made:\n{made.stderr}")
    value = json.loads(made.stdout)
    return str(value["key"]), str(value["id"])


def _first_key(service: AttackedService) -> Check:
    """Right after a key was made, eight preflights at the same time know its origin."""
    secret, key_id = _create_key(service, "--origin", _ORIGIN)
    headers = {"Origin": _ORIGIN, "Access-Control-Request-Method": "POST"}

    def preflight(_: int) -> int:
        return service.send("OPTIONS", "/api/query", headers=headers).status

    with ThreadPoolExecutor(8) as pool:
        statuses = Counter(pool.map(preflight, range(8)))
    closed = _ask(service, {})
    run_command(service.folder, "keys", "revoke", key_id)
    allowed = set(statuses) <= {200, 204} and closed == 401 and bool(secret)
    return Check(
        "8 preflights right after the first key", allowed, f"{dict(statuses)}; no key: {closed}"
    )


def _revoke_key(service: AttackedService) -> Check:
    """While many ask, a key is revoked: a second later nobody gets in by it."""
    secret, key_id = _create_key(service)
    over, late = threading.Event(), list[int]()
    revoked_at = [float("inf")]

    def knock() -> None:
        while not over.is_set():
            started = time.monotonic()
            status = service.send(
                "POST", "/api/query", {"query": ""}, {"X-API-Key": secret}
            ).status  # 422 by who is let in, 401 else
            if started > revoked_at[0] + 1.0:
                late.append(status)

    readers = [threading.Thread(target=knock) for _ in range(6)]
    for reader in readers:
        reader.start()
    time.sleep(1)
    run_command(service.folder, "keys", "revoke", key_id)
    revoked_at[0] = time.monotonic()
    time.sleep(4)
    over.set()
    for reader in readers:
        reader.join()
    found = Counter(late)
    return Check("a revoked key, a second later, 6 at once", set(found) == {401}, str(dict(found)))
