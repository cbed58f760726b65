"""Decides which hosts may be reached, and at which IP addresses."""

import ipaddress
import socket
from collections.abc import Iterable

from bythebook.adapters.readers.site.address import WebAddress
from bythebook.adapters.readers.site.limits import FetchFailed, HostRefused

_IPV4_SPECIAL = tuple(
    ipaddress.IPv4Network(network)
    for network in """0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
    192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16
    192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4""".split()
)
_IPV6_GLOBAL = ipaddress.IPv6Network("2000::/3")
# Within it: protocol assignments with Teredo, documentation, 6to4.
_IPV6_SPECIAL = tuple(
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


class HostGuard:
    """Resolves each host once, and refuses those that lead into a private network."""

    def __init__(self, allowed_hosts: Iterable[str] = ()) -> None:
        self._allowed = frozenset(host.strip().lower() for host in allowed_hosts)
        self._resolved: dict[tuple[str, int], tuple[str, ...]] = {}

    def allows(self, address: WebAddress) -> bool:
        """Say whether the operator named this host, with or without its port."""
        names = {address.host, address.written_host, address.host_and_port}
        return not names.isdisjoint(self._allowed)

    def resolve(self, address: WebAddress) -> tuple[str, ...]:
        """Return the IP addresses to connect to, the same for the whole run."""
        place = (address.host, address.port)
        if place not in self._resolved:
            self._resolved[place] = self._resolve_and_check(address)
        return self._resolved[place]

    def _resolve_and_check(self, address: WebAddress) -> tuple[str, ...]:
        found = _resolve(address)
        if not self.allows(address) and any(is_forbidden(number) for number in found):
            raise HostRefused(
                f"{address.authority} leads into a private network. To allow it, add "
                f"{address.host_and_port} to BYTHEBOOK_ALLOWED_HOSTS."
            )
        return found


def is_forbidden(text: str) -> bool:
    """Return True for any address except a public unicast address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return True
    if isinstance(address, ipaddress.IPv4Address):
        return not address.is_global or any(address in network for network in _IPV4_SPECIAL)
    return address not in _IPV6_GLOBAL or any(address in network for network in _IPV6_SPECIAL)


def _resolve(address: WebAddress) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchFailed(f"The host {address.host} was not found.") from error
    numbers = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not numbers:
        raise FetchFailed(f"The host {address.host} has no address.")
    return numbers
