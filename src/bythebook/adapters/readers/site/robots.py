"""Reads robots.txt: forbidden addresses, the crawl delay and sitemaps."""

import re

from protego import Protego

from bythebook.adapters.readers.site.address import WebAddress, join, parse_address
from bythebook.adapters.readers.site.connection import ExpectedContent
from bythebook.adapters.readers.site.fetch import Fetcher
from bythebook.adapters.readers.site.limits import USER_AGENT, FetchFailed
from bythebook.errors import UnreadableBook

_TYPES = """text/plain text/html text/markdown text/robots text/x-robots text/x-robots-txt
    application/octet-stream application/text binary/octet-stream"""
_EXPECTED = ExpectedContent("a text", frozenset(_TYPES.split()) | {""}, 500_000)
_MAX_LINES = 5_000
_AGENT_LINE = re.compile(r"\s*user[- ]?agent\s*:\s*([^#]*)", re.IGNORECASE)


class Robots:
    """The rules of one site."""

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse("\n".join(_simplify_agent(line) for line in _split_lines(text)))

    def allows(self, address: WebAddress) -> bool:
        """Return True if the site allows us to read an address."""
        return self._rules.can_fetch(address.text, USER_AGENT)

    @property
    def delay(self) -> float:
        """Seconds that the site asks for between requests."""
        return self._rules.crawl_delay(USER_AGENT) or 0.0

    def list_sitemaps(self, start: WebAddress) -> list[WebAddress]:
        """Return the site's own sitemaps, without those of other origins."""
        found = [join(start, text) for text in self._rules.sitemaps]
        addresses = [target[0] for target in found if target]
        return [address for address in addresses if address.origin == start.origin]


def fetch_robots(fetcher: Fetcher, start: WebAddress) -> Robots:
    """Fetch the rules of a site; without rules all is allowed, after a failure nothing is."""
    try:
        found = fetcher.get(parse_address(f"{start.origin}/robots.txt"), _EXPECTED)
    except FetchFailed as failure:
        if failure.status == 0:  # other requests would fail too
            raise
        # There may be rules, but they cannot be read.
        if failure.status in {200, 429} or failure.status >= 500:
            raise UnreadableBook(
                f"{start.origin}/robots.txt cannot be read. {failure.reason}",
                "Check the address, or try again later.",
            ) from failure
        return Robots("")
    return Robots(found.body.decode("utf-8-sig", "replace"))


def _split_lines(text: str) -> list[str]:
    lines = (line.strip()[:2_000] for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")][:_MAX_LINES]


def _simplify_agent(line: str) -> str:
    """Give all other agents one name: rules are stored per name, and there may be many names."""
    agent = _AGENT_LINE.match(line)
    if agent is None:
        return line
    name = agent[1].strip().lower()
    ours = name == "*" or (name and name in USER_AGENT.lower())
    return line if ours else "User-agent: others"
