"""Who comes in, and how often."""

import ipaddress
from dataclasses import dataclass
from uuid import UUID

from bythebook.domain.access import Allowance, Caller, Window
from bythebook.domain.records import ApiKey, KeyScope
from bythebook.errors import Forbidden, TooManyRequests, Unauthorized
from bythebook.operate.keyring import KeyRing
from bythebook.ports import Limiter, Metrics

_IPV6_PREFIX = 64  # bits: what one subscriber is given, and may choose addresses from at will


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests per minute; 0: no limit."""

    key: int = 0
    session: int = 0
    ip: int = 0


@dataclass(frozen=True, slots=True)
class Admission:
    """A caller who was let in, and what is left of the window it was counted in."""

    caller: Caller
    allowance: Allowance | None = None  # none without a limit


class Gate:
    """Lets requests in by their key or, while there are no keys, by their address."""

    def __init__(self, ring: KeyRing, limiter: Limiter, limits: Limits, metrics: Metrics) -> None:
        self.ring = ring
        self._limiter = limiter
        self._limits = limits
        self._metrics = metrics

    async def admit(
        self, secret: str | None, origin: str | None, ip: str | None, scope: KeyScope
    ) -> Admission:
        """Let a request in and count it, or raise NotAdmitted."""
        if await self.ring.is_open():
            window = Window("ip", _network(ip), self._limits.ip)
            return Admission(Caller(ip), await self._take(window))
        try:
            key = await self._opened(secret)
        except Unauthorized:
            await self._take(Window("ip", _network(ip), self._limits.ip))
            raise
        _require_scope(key, scope)
        _require_origin(key, origin)
        own = key.terms.limit_per_minute
        window = Window("key", str(key.key_id), self._limits.key if own is None else own)
        return Admission(Caller(ip, key), await self._take(window))

    async def _opened(self, secret: str | None) -> ApiKey:
        if not secret:
            raise Unauthorized("This service needs a key.")
        return await self.ring.open_with(secret)

    async def admit_session(self, caller: Caller, session_id: UUID | None) -> Allowance | None:
        """Count a request in its session, which is nobody else's, or raise TooManyRequests."""
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
        self._metrics.limited(window.name)
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
    """Hold a key to its origins; a request without any comes from none of them."""
    if key.terms.origins is not None and origin not in key.terms.origins:
        raise Forbidden("This key may not be used from here.")


def _network(ip: str | None) -> str:
    """Give whom an address belongs to, as far as it can be told."""
    try:
        address = ipaddress.ip_address((ip or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return str(address)
