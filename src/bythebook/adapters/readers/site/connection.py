"""One HTTP connection to a checked address, with a deadline for each request."""

import http.client
import io
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bythebook.adapters.readers.site.address import WebAddress
from bythebook.adapters.readers.site.inflate import inflate
from bythebook.adapters.readers.site.limits import FetchFailed

_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """The response of a server to one request."""

    status: int
    headers: Mapping[str, str]  # by lower-case name
    body: bytes


@dataclass(frozen=True, slots=True)
class ExpectedContent:
    """The content that a request accepts; nothing else is read."""

    name: str
    types: frozenset[str]
    most: int  # bytes after decompression


class PinnedConnection:
    """Connects to one origin at the checked IP addresses only, and does not resolve its name again."""

    def __init__(self, address: WebAddress, numbers: Sequence[str]) -> None:
        self.origin = address.origin
        self._http = _PinnedHttpConnection(address, numbers)

    def get(
        self,
        address: WebAddress,
        headers: Mapping[str, str],
        *,
        deadline: float,
        expected: ExpectedContent,
    ) -> ServerResponse:
        """Request an address; raise FetchFailed, OSError or HTTPException if the response is incomplete."""
        reused = self._http.sock is not None
        try:
            response = self._send_request(address, headers, deadline)
        except (http.client.HTTPException, OSError):
            self.close()
            if not reused:
                raise
            # The server had closed the connection in the meantime.
            response = self._send_request(address, headers, deadline)
        return self._read_response(response, expected)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def _send_request(
        self, address: WebAddress, headers: Mapping[str, str], deadline: float
    ) -> http.client.HTTPResponse:
        self._http.set_deadline(deadline)
        self._http.request("GET", address.target, headers={"Host": address.authority, **headers})
        return self._http.getresponse()

    def _read_response(
        self, response: http.client.HTTPResponse, expected: ExpectedContent
    ) -> ServerResponse:
        headers = {name.lower(): value for name, value in response.getheaders()}
        try:
            body = self._read_body(response, headers, expected)
        except BaseException:
            self.close()
            response.close()
            raise
        return ServerResponse(response.status, headers, body)

    def _read_body(
        self,
        response: http.client.HTTPResponse,
        headers: Mapping[str, str],
        expected: ExpectedContent,
    ) -> bytes:
        """Read the body of a page; bodies of errors and redirects are discarded."""
        if response.status != http.client.OK:
            if response.length is None or response.length > _PIECE:
                self.close()
                response.close()
            else:
                response.read()
            return b""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in expected.types:
            raise FetchFailed(
                f"Its type is {kind[:80] or 'unknown'}, not {expected.name}.", status=200
            )
        encoding = headers.get("content-encoding", "")
        body = b"".join(inflate(_iterate_pieces(response), encoding, expected.most))
        if response.length:  # the server closed the connection early
            raise http.client.IncompleteRead(body)
        return body


class _PinnedHttpConnection(http.client.HTTPConnection):
    """An HTTP connection that sends the host name but does not resolve it."""

    def __init__(self, address: WebAddress, numbers: Sequence[str]) -> None:
        super().__init__(address.host, address.port)
        self._address = address
        self._numbers = numbers
        self._deadline = 0.0

    def set_deadline(self, deadline: float) -> None:
        self._deadline = deadline
        if isinstance(self.sock, _DeadlineSocket):
            self.sock.deadline = deadline

    def connect(self) -> None:
        failure: OSError = ConnectionError("no address answered")
        for number in self._numbers[:3]:
            try:
                plain = socket.create_connection(
                    (number, self._address.port), _seconds_left(self._deadline)
                )
                self.sock = _DeadlineSocket(self._wrap_tls(plain), self._deadline)
            except OSError as error:
                failure = error
            else:
                return
        raise failure

    def _wrap_tls(self, plain: socket.socket) -> socket.socket:
        if self._address.scheme == "http":
            return plain
        try:
            plain.settimeout(_seconds_left(self._deadline))
            context = ssl.create_default_context()
            return context.wrap_socket(plain, server_hostname=self._address.host)
        except BaseException:
            plain.close()
            raise


class _DeadlineSocket:
    """A socket with one deadline for all reading and writing, however slowly bytes arrive."""

    def __init__(self, plain: socket.socket, deadline: float) -> None:
        self._plain = plain
        self._files = 0
        self._hung_up = False
        self.deadline = deadline

    def sendall(self, content: bytes) -> None:
        self._plain.settimeout(_seconds_left(self.deadline))
        self._plain.sendall(content)

    def recv_into(self, buffer: memoryview) -> int:
        self._plain.settimeout(_seconds_left(self.deadline))
        return self._plain.recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        self._files += 1
        return io.BufferedReader(_SocketReader(self), _PIECE)

    def close(self) -> None:
        """Close the socket after the current response is read: it may end with the connection."""
        self._hung_up = True
        if self._files <= 0:
            with suppress(OSError):
                self._plain.close()

    def release(self) -> None:
        self._files -= 1
        if self._hung_up:
            self.close()


class _SocketReader(io.RawIOBase):
    """The incoming bytes of a socket, as a file."""

    def __init__(self, source: _DeadlineSocket) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._source.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._source.release()
        super().close()


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left


def _iterate_pieces(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while piece := response.read(_PIECE):
        yield piece
