"""One HTTP connection to an address that was checked, each request under one deadline."""

import http.client
import io
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bythebook.adapters.readers.site.address import WebAddress
from bythebook.adapters.readers.site.inflate import inflated
from bythebook.adapters.readers.site.limits import FetchFailed

_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered to one request."""

    status: int
    headers: Mapping[str, str]  # by lower-case name
    body: bytes


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: nothing else is read."""

    name: str
    types: frozenset[str]
    most: int  # bytes, inflated


class PinnedConnection:
    """Talks to one origin at the very numbers that were checked, never to what a name says later."""

    def __init__(self, address: WebAddress, numbers: Sequence[str]) -> None:
        self.origin = address.origin
        self._link = _Link(address, numbers)

    def get(
        self, address: WebAddress, headers: Mapping[str, str], *, deadline: float, wanted: Wanted
    ) -> Answer:
        """Ask for an address; raise FetchFailed, OSError or HTTPException if it does not come whole."""
        reused = self._link.sock is not None
        try:
            response = self._ask(address, headers, deadline)
        except (http.client.HTTPException, OSError):
            self.close()
            if not reused:
                raise
            response = self._ask(address, headers, deadline)  # the server had hung up meanwhile
        return self._answer(response, wanted)

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    def _ask(
        self, address: WebAddress, headers: Mapping[str, str], deadline: float
    ) -> http.client.HTTPResponse:
        self._link.until(deadline)
        self._link.request("GET", address.target, headers={"Host": address.authority, **headers})
        return self._link.getresponse()

    def _answer(self, response: http.client.HTTPResponse, wanted: Wanted) -> Answer:
        headers = {name.lower(): value for name, value in response.getheaders()}
        try:
            body = self._body(response, headers, wanted)
        except BaseException:
            self.close()
            response.close()
            raise
        return Answer(response.status, headers, body)

    def _body(
        self, response: http.client.HTTPResponse, headers: Mapping[str, str], wanted: Wanted
    ) -> bytes:
        """Read the body of a page; those of errors and redirects are only cleared away."""
        if response.status != http.client.OK:
            if response.length is None or response.length > _PIECE:
                self.close()
                response.close()
            else:
                response.read()
            return b""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in wanted.types:
            raise FetchFailed(
                f"Its type is {kind[:80] or 'not said'}, not {wanted.name}.", status=200
            )
        encoding = headers.get("content-encoding", "")
        body = b"".join(inflated(_pieces(response), encoding, wanted.most))
        if response.length:  # the server hung up early
            raise http.client.IncompleteRead(body)
        return body


class _Link(http.client.HTTPConnection):
    """An HTTP connection whose name is only said, not looked up."""

    def __init__(self, address: WebAddress, numbers: Sequence[str]) -> None:
        super().__init__(address.host, address.port)
        self._address = address
        self._numbers = numbers
        self._deadline = 0.0

    def until(self, deadline: float) -> None:
        self._deadline = deadline
        if isinstance(self.sock, _DeadlineSocket):
            self.sock.deadline = deadline

    def connect(self) -> None:
        failure: OSError = ConnectionError("no address answered")
        for number in self._numbers[:3]:
            try:
                plain = socket.create_connection(
                    (number, self._address.port), _left(self._deadline)
                )
                self.sock = _DeadlineSocket(self._secured(plain), self._deadline)
            except OSError as error:
                failure = error
            else:
                return
        raise failure

    def _secured(self, plain: socket.socket) -> socket.socket:
        if self._address.scheme == "http":
            return plain
        try:
            plain.settimeout(_left(self._deadline))
            context = ssl.create_default_context()
            return context.wrap_socket(plain, server_hostname=self._address.host)
        except BaseException:
            plain.close()
            raise


class _DeadlineSocket:
    """A socket that ends all reading and writing at one moment, however slowly bytes drip in."""

    def __init__(self, plain: socket.socket, deadline: float) -> None:
        self._plain = plain
        self._files = 0
        self._hung_up = False
        self.deadline = deadline

    def sendall(self, content: bytes) -> None:
        self._plain.settimeout(_left(self.deadline))
        self._plain.sendall(content)

    def recv_into(self, buffer: memoryview) -> int:
        self._plain.settimeout(_left(self.deadline))
        return self._plain.recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        self._files += 1
        return io.BufferedReader(_Incoming(self), _PIECE)

    def close(self) -> None:
        """Hang up once the answer that is being read is done with: it may end with the connection."""
        self._hung_up = True
        if self._files <= 0:
            with suppress(OSError):
                self._plain.close()

    def let_go(self) -> None:
        self._files -= 1
        if self._hung_up:
            self.close()


class _Incoming(io.RawIOBase):
    """What comes in on a socket, as a file."""

    def __init__(self, source: _DeadlineSocket) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._source.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._source.let_go()
        super().close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left


def _pieces(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while piece := response.read(_PIECE):
        yield piece
