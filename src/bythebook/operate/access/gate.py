"""Who is let in, and how often."""

from dataclasses import dataclass
from uuid import UUID

from bythebook.domain.access import Allowance, Caller, Window, network_of
from bythebook.domain.records import ApiKey, KeyScope
from bythebook.errors import Forbidden, TooManyRequests, Unauthorized
from bythebook.operate.access.keyring import KeyRing
from bythebook.ports import Limiter, Metrics


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Requests per minute; 0: no limit."""

    key: int = 0
    session: int = 0
    ip: int = 0


@dataclass(frozen=True, slots=True)
class Admission:
    """A caller who was let in, and what is left of the window it was counted in."""

    caller: Caller
    allowance: Allowance | None = None  # None without a limit


class Gate:
    """Lets requests in by their key or, while there are no keys, by their address."""

    def __init__(
        self, ring: KeyRing, limiter: Limiter, limits: RequestLimits, metrics: Metrics
    ) -> None:
        self.ring = ring
        self._limiter = limiter
        self._limits = limits
        self._metrics = metrics

    async def admit(
        self, secret: str | None, origin: str | None, ip: str | None, scope: KeyScope
    ) -> Admission:
        """Let a request in and count it, or raise NotAdmitted."""
        if await self.ring.is_open():
            window = Window("ip", network_of(ip), self._limits.ip)
            return Admission(Caller(ip), await self._take(window))
        try:
            key = await self._open_with_key(secret)
        except Unauthorized:
            await self._take(Window("ip", network_of(ip), self._limits.ip))
            raise
        _require_scope(key, scope)
        _require_origin(key, origin)
        own = key.terms.limit_per_minute
        window = Window("key", str(key.key_id), self._limits.key if own is None else own)
        return Admission(Caller(ip, key), await self._take(window))

    async def _open_with_key(self, secret: str | None) -> ApiKey:
        if not secret:
            raise Unauthorized("This service needs a key.")
        return await self.ring.open_with(secret)

    async def admit_session(self, caller: Caller, session_id: UUID | None) -> Allowance | None:
        """Count a request in its session, or raise TooManyRequests; other callers have other sessions."""
        if session_id is None:
            return None
        holder = f"{caller.owner}/{session_id}"
        return await self._take(Window("session", holder, self._limits.session))

    async def _take(self, window: Window) -> Allowance | None:
        if window.per_minute <= 0:
            return None
        allowance = await self._limiter.take(window)
        if allowance.allowed:
            return allowance
        self._metrics.count_limited(window.name)
        raise TooManyRequests(
            "Too many requests. Please wait before trying again.",
            limit=allowance.limit,
            remaining=allowance.remaining,
            retry_after=allowance.retry_after,
        )


def _require_scope(key: ApiKey, scope: KeyScope) -> None:
    if scope == "admin" and key.terms.scope != "admin":
        raise Forbidden("This needs a key of scope admin.")


def _require_origin(key: ApiKey, origin: str | None) -> None:
    """Raise Forbidden unless the request comes from one of the key's origins."""
    if key.terms.origins is not None and origin not in key.terms.origins:
        raise Forbidden("This key may not be used from here.")
