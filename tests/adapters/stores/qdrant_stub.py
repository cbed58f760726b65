"""A Qdrant server for tests: real HTTP on loopback, over qdrant-client's in-process mode.

Every request is held against Qdrant's published REST shapes; what does not fit is answered by 400 and
remembered. On request it misbehaves.
"""

import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

Misdeed = Literal["stall", "cut", "garbage", "lie"]
_PARAMETERS = {"wait", "timeout", "ordering", "consistency"}
_NOT_IN_NAMES = set('<>:"/\\|?*\0\x1f')
_DELETE: TypeAdapter[models.PointsSelector] = TypeAdapter(models.PointsSelector)
_UPSERT: TypeAdapter[models.PointInsertOperations] = TypeAdapter(models.PointInsertOperations)


@dataclass
class Fault:
    """What happens instead of an answer, a number of times, for requests with this end of the path."""

    path_end: str
    how: int | Misdeed
    times: int = 1_000_000
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Request:
    """What was asked."""

    method: str
    path: str
    body: Any
    headers: Mapping[str, str]

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


class QdrantStub:
    """The server's state, and what it was asked."""

    def __init__(self, api_key: str = "") -> None:
        self.api_key = api_key
        self.requests: list[Request] = []
        self.invalid: list[str] = []
        self.faults: list[Fault] = []
        self.indexes: dict[str, dict[str, Any]] = {}
        self.port = 0
        self.released = threading.Event()
        self._engine = QdrantClient(":memory:")
        self._lock = threading.RLock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def collections(self) -> set[str]:
        with self._lock:
            return {found.name for found in self._engine.get_collections().collections}

    @property
    def aliases(self) -> dict[str, str]:
        with self._lock:
            found = self._engine.get_aliases().aliases
        return {alias.alias_name: alias.collection_name for alias in found}

    def lines(self, since: int = 0) -> list[str]:
        return [request.line for request in self.requests[since:]]

    def bodies(self, path_end: str, since: int = 0) -> list[Any]:
        return [one.body for one in self.requests[since:] if one.path.endswith(path_end)]

    def engine(self) -> QdrantClient:
        """Reach behind the server's back."""
        return self._engine

    def fault_for(self, path: str) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if path.endswith(fault.path_end) and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def answer(self, method: str, path: str, query: str, body: bytes) -> Any:
        """Do what a request asks; raises ValueError or ValidationError where it is not valid."""
        unknown = parse_qs(query).keys() - _PARAMETERS
        if unknown:
            raise ValueError(f"unknown parameters {unknown}")
        parts = path.strip("/").split("/")
        with self._lock:
            if parts == ["aliases"] and method == "GET":
                return self._engine.get_aliases()
            if parts == ["collections", "aliases"] and method == "POST":
                change = models.ChangeAliasesOperation.model_validate_json(body)
                return self._engine.update_collection_aliases(change.actions)
            if parts[0] == "collections" and len(parts) > 1:
                act = _ACTIONS.get((method, "/".join(parts[2:])))
                if act is not None:
                    return act(self, parts[1], body)
        raise ValueError(f"no such operation: {method} {path}")

    def create(self, name: str, body: bytes) -> bool:
        asked = models.CreateCollection.model_validate_json(body)
        if set(name) & _NOT_IN_NAMES or not 0 < len(name) <= 255:
            raise ValueError(f"no name for a collection: {name}")
        if (asked.shard_number or 1) < 1 or (asked.replication_factor or 1) < 1:
            raise ValueError("less than one shard or replica")
        if name in self.collections:
            raise FileExistsError(name)
        self.indexes[name] = {}
        return self._engine.create_collection(
            name, vectors_config=asked.vectors, sparse_vectors_config=asked.sparse_vectors
        )

    def delete(self, name: str, _body: bytes) -> bool:
        self.indexes.pop(name, None)
        return self._engine.delete_collection(name)

    def describe(self, name: str, _body: bytes) -> models.CollectionInfo:
        return self._engine.get_collection(name)

    def exists(self, name: str, _body: bytes) -> models.CollectionExistence:
        return models.CollectionExistence(exists=self._engine.collection_exists(name))

    def index(self, name: str, body: bytes) -> Any:
        asked = models.CreateFieldIndex.model_validate_json(body)
        self._engine.get_collection(name)
        self.indexes[name][asked.field_name] = json.loads(body)["field_schema"]
        return _DONE

    def upsert(self, name: str, body: bytes) -> Any:
        asked = _UPSERT.validate_json(body)
        assert isinstance(asked, models.PointsList)
        for point in asked.points:
            _check_point(point)
        return self._engine.upsert(name, asked.points)

    def retrieve(self, name: str, body: bytes) -> Any:
        asked = models.PointRequest.model_validate_json(body)
        return self._engine.retrieve(
            name, asked.ids, asked.with_payload or False, asked.with_vector or False
        )

    def take_out(self, name: str, body: bytes) -> Any:
        return self._engine.delete(name, _DELETE.validate_json(body))

    def count(self, name: str, body: bytes) -> Any:
        asked = models.CountRequest.model_validate_json(body)
        return self._engine.count(name, asked.filter, exact=bool(asked.exact))

    def scroll(self, name: str, body: bytes) -> Any:
        asked = models.ScrollRequest.model_validate_json(body)
        page, offset = self._engine.scroll(
            name,
            limit=asked.limit or 10,
            offset=asked.offset,
            with_payload=asked.with_payload or False,
            with_vectors=asked.with_vector or False,
        )
        return models.ScrollResult(points=page, next_page_offset=offset)

    def query(self, name: str, body: bytes) -> Any:
        asked = models.QueryRequestBatch.model_validate_json(body)
        for one in asked.searches:
            if (one.limit or 1) < 1:
                raise ValueError("a limit below 1")
            if isinstance(one.query, models.SparseVector):
                _check_sparse(one.query)
        return self._engine.query_batch_points(name, asked.searches)


_DONE = models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)
_ACTIONS: Mapping[tuple[str, str], Callable[[QdrantStub, str, bytes], Any]] = {
    ("PUT", ""): QdrantStub.create,
    ("DELETE", ""): QdrantStub.delete,
    ("GET", ""): QdrantStub.describe,
    ("GET", "exists"): QdrantStub.exists,
    ("PUT", "index"): QdrantStub.index,
    ("PUT", "points"): QdrantStub.upsert,
    ("POST", "points"): QdrantStub.retrieve,
    ("POST", "points/delete"): QdrantStub.take_out,
    ("POST", "points/count"): QdrantStub.count,
    ("POST", "points/scroll"): QdrantStub.scroll,
    ("POST", "points/query/batch"): QdrantStub.query,
}


def _check_point(point: models.PointStruct) -> None:
    if not isinstance(point.vector, dict):
        raise ValueError("vectors without names")  # noqa: TRY004 - answered by 400
    for vector in point.vector.values():
        if isinstance(vector, models.SparseVector):
            _check_sparse(vector)
        elif isinstance(vector, list) and not all(math.isfinite(float(str(x))) for x in vector):
            raise ValueError("a vector that is not finite")


def _check_sparse(vector: models.SparseVector) -> None:
    indices = vector.indices
    if len(set(indices)) != len(indices) or len(indices) != len(vector.values):
        raise ValueError("indices that are not unique, or not as many as values")
    if not all(0 <= index < 2**32 for index in indices):
        raise ValueError("an index beyond 32 bits")


def _json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list):
        return [_json(one) for one in value]
    return value


def _handler(stub: QdrantStub) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one class
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            address = urlsplit(self.path)
            stub.requests.append(
                Request(
                    self.command,
                    address.path,
                    json.loads(body) if body else None,
                    {name.lower(): value for name, value in self.headers.items()},
                )
            )
            if stub.api_key and self.headers.get("api-key") != stub.api_key:
                self.send(401, b"Must provide an API key or an Authorization bearer token")
            elif fault := stub.fault_for(address.path):
                self.misbehave(fault)
            else:
                self.serve(address.path, address.query, body)

        do_GET = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 - names of the library

        def serve(self, path: str, query: str, body: bytes) -> None:
            try:
                result = stub.answer(self.command, path, query, body)
            except FileExistsError as error:
                self.refuse(409, f"Wrong input: Collection `{error}` already exists!")
            except (ValueError, ValidationError, AssertionError) as error:
                if "not found" in str(error):
                    self.refuse(404, "Not found: Collection doesn't exist!")
                    return
                stub.invalid.append(f"{self.command} {path}: {error}")
                self.refuse(400, str(error))
            else:
                self.send_json(200, {"result": _json(result), "status": "ok", "time": 0.001})

        def misbehave(self, fault: Fault) -> None:
            self.close_connection = True
            if fault.how == "stall":
                stub.released.wait(600)
            elif fault.how == "cut":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
            elif fault.how == "garbage":
                self.send(200, b"<html>Welcome</html>")
            elif fault.how == "lie":
                answer = {"result": {"count": 1}, "status": "ok", "time": 0.001}
                self.send_json(200, answer)
            else:
                self.send(fault.how, b"no", fault.headers)

        def refuse(self, status: int, error: str) -> None:
            self.send_json(status, {"status": {"error": error}, "time": 0.001})

        def send_json(self, status: int, value: object) -> None:
            self.send(status, json.dumps(value).encode())

        def send(self, status: int, body: bytes, headers: Mapping[str, str] = {}) -> None:
            self.send_response(status)
            sent = {"Content-Type": "application/json", "Content-Length": str(len(body))}
            for name, value in {**sent, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what some tests are about."""


@contextmanager
def serve_qdrant(api_key: str = "") -> Iterator[QdrantStub]:
    """Serve on a free port; every request must have been valid by the end."""
    stub = QdrantStub(api_key)
    server = _Server(("127.0.0.1", 0), _handler(stub))
    stub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stub
        assert stub.invalid == []
    finally:
        stub.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
        stub.engine().close()
