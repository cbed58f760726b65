"""The address of a request, also behind trusted proxies."""

import ipaddress
import re
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_MOST_CHARACTERS = 45  # of an address as it is stored
_WITH_PORT = re.compile(r"\[(?P<v6>[^\]]+)\](:\d+)?|(?P<v4>[\d.]+):\d+")


def client_address(
    peer: str | None, forwarded: Sequence[str], proxies: Sequence[Network]
) -> str | None:
    """Return the nearest address that is not a trusted proxy's; `forwarded` are X-Forwarded-For headers.

    Entries to the left of it come from an untrusted sender and are ignored.
    """
    address = _address(peer or "")
    if address is None:
        return (peer or "")[:_MOST_CHARACTERS] or None
    hops = [hop for header in forwarded for hop in header.split(",")]
    while hops and _is_trusted(address, proxies):
        before = _address(hops.pop())
        if before is None:
            break
        address = before
    return str(address)[:_MOST_CHARACTERS]


def _is_trusted(address: Address, proxies: Sequence[Network]) -> bool:
    return any(address in network for network in proxies)


def _address(text: str) -> Address | None:
    """Parse an address, with or without a port; an IPv4-mapped IPv6 address becomes IPv4."""
    text = text.strip()
    match = _WITH_PORT.fullmatch(text)
    if match:
        text = match["v6"] or match["v4"]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
