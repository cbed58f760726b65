"""Calls an operator by a JSON POST to an address that only the operator knows."""

import asyncio
import logging
from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx

from bythebook.domain.incidents import Incident
from bythebook.errors import InputError

_log = logging.getLogger("bythebook.alerts")
_TIMEOUT_SECONDS = 5.0
_WAITS = (1.0, 4.0)  # seconds before the second and the third attempt


class WebhookAlarm:
    """Posts incidents; its address, which may hold a secret, is never shown."""

    def __init__(
        self, url: str, *, timeout: float = _TIMEOUT_SECONDS, waits: Sequence[float] = _WAITS
    ) -> None:
        self._url = _address(url)
        self._timeout = timeout
        self._waits = waits
        self._client: httpx.AsyncClient | None = None

    async def send(self, incident: Incident) -> None:
        """Tell of an incident that began or ended; what cannot be delivered is logged."""
        problem = ""
        for wait in (0.0, *self._waits):
            await asyncio.sleep(wait)
            problem = await self._post(_body(incident))
            if not problem:
                return
        _log.warning(
            "an operator could not be called: %s",
            problem,
            extra={"part": incident.part, "attempts": 1 + len(self._waits)},
        )

    async def _post(self, body: dict[str, str | None]) -> str:
        """Try once; say what went wrong without the address, or nothing."""
        if self._client is None:  # made in a thread: reading all certificates takes long
            self._client = await asyncio.to_thread(_make_client)
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(self._url, json=body)
        except (httpx.HTTPError, httpx.StreamError, TimeoutError, OSError) as error:
            return type(error).__name__
        return "" if response.is_success else f"HTTP {response.status_code}"


def _make_client() -> httpx.AsyncClient:
    """Make a client that keeps no connection between calls, so that none is left to close."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(timeout=None, limits=limits)  # noqa: S113 - bounded as a whole


def _body(incident: Incident) -> dict[str, str | None]:
    return {
        "service": "bythebook",
        "part": incident.part,
        "status": "recovered" if incident.ended_at else "failed",
        "message": incident.message,
        "began_at": incident.began_at.isoformat(),
        "ended_at": incident.ended_at.isoformat() if incident.ended_at else None,
    }


def _address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
        if address.scheme in {"http", "https"} and urlsplit(url).hostname:
            return address
    except (httpx.InvalidURL, ValueError):
        pass
    raise InputError(
        "BYTHEBOOK_ALERT_WEBHOOK is no web address.",
        "Write it as https://host/path, or unset it for no alerts.",
    ) from None
