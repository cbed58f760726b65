"""Lines of the log: their shape, and what none of them may hold."""

import io
import json
import logging
import logging.config
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from structlog.contextvars import bind_contextvars, clear_contextvars

from bythebook.adapters.operations.json_logs import log_handler
from bythebook.adapters.operations.log_secrets import HIDDEN, Hider, secrets_in
from bythebook.domain.records import key_prefix

KEY = "btb_" + 5 * "kR7-Qm_2" + "abc"  # the same in every process that runs the tests
PASSWORD = "p@ss w/rd'\"é"
DATABASE = "postgresql://ada:gr8%2Fword%40x@db.example:5432/books"
WEBHOOK = "https://hooks.example/services/T0/B0/abcdefghijkl?sig=mnop"
SECRETS = secrets_in([DATABASE, "redis://:hunter22@cache:6379/0", WEBHOOK])
# Pieces that would each give a secret away.
LEAKS = (KEY, KEY[20:], "gr8", "hunter22", "abcdefghijkl", "mnop", "s3cr3t", PASSWORD)


@dataclass
class Lines:
    """A logger of its own and what it wrote."""

    logger: logging.Logger
    stream: io.StringIO

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def last(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text.splitlines()[-1])
        return found


def lines_as(*, as_json: bool) -> Iterator[Lines]:
    logger = logging.Logger("bythebook.test")  # noqa: LOG001 - known to nobody else
    stream = io.StringIO()
    logger.addHandler(log_handler(stream, as_json=as_json, secrets=SECRETS))
    clear_contextvars()
    yield Lines(logger, stream)
    clear_contextvars()


@pytest.fixture
def lines() -> Iterator[Lines]:
    yield from lines_as(as_json=True)


@pytest.fixture(params=[True, False], ids=["json", "text"])
def either(request: pytest.FixtureRequest) -> Iterator[Lines]:
    yield from lines_as(as_json=request.param)


def test_a_line_is_one_json_object_with_time_level_logger_and_event(lines: Lines) -> None:
    bind_contextvars(request_id="r1")
    lines.logger.info("question", extra={"timings_ms": {"judge": 1.5}, "score": 0.5, "error": None})
    told = lines.last
    assert list(told)[:4] == ["timestamp", "level", "logger", "event"]
    assert told.pop("timestamp").endswith("Z")
    assert told == {
        "level": "info",
        "logger": "bythebook.test",
        "event": "question",
        "timings_ms": {"judge": 1.5},
        "score": 0.5,
        "request_id": "r1",
    }


def test_a_line_names_its_own_request_where_it_is_of_another(lines: Lines) -> None:
    bind_contextvars(request_id="now")
    lines.logger.info("kept", extra={"request_id": "before"})
    assert lines.last["request_id"] == "before"


def test_a_traceback_is_one_field_of_one_line(lines: Lines) -> None:
    try:
        int("first\nsecond")
    except ValueError:
        lines.logger.exception("broken\nin two\n")
    assert lines.text.count("\n") == 1
    assert lines.last["event"] == "broken\nin two"
    assert "\nValueError: invalid literal" in lines.last["exception"]


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), {1, 2}, object(), b"\xff", "\ud800"])
def test_whatever_a_line_carries_it_stays_json(lines: Lines, odd: object) -> None:
    def strict(constant: str) -> None:
        raise AssertionError(constant)

    lines.logger.info("odd %s", "\ud800", extra={"odd": odd, "nested": [odd, {"deep": odd}]})
    json.loads(lines.text, parse_constant=strict)


def test_a_value_that_holds_itself_is_told_to_some_depth(lines: Lines) -> None:
    around: dict[str, Any] = {"password": "s3cr3t"}
    around["self"] = around
    lines.logger.info("around", extra={"around": around})
    assert "s3cr3t" not in lines.text


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError(f"no {KEY}")


@dataclass
class Client:
    name: str
    api_key: str


def _raise_chained(logger: logging.Logger) -> None:
    try:
        try:
            raise ConnectionError(f"cannot reach {DATABASE}")  # noqa: TRY301 - to be caused by
        except ConnectionError as error:
            error.add_note(f"Authorization: Bearer {KEY}")
            raise RuntimeError(f"webhook {WEBHOOK} with password='{PASSWORD}'") from error
    except RuntimeError:
        logger.exception("failed for %s", KEY)


def _in_group(logger: logging.Logger) -> None:
    group = ExceptionGroup("all", [ValueError(KEY), OSError("token=s3cr3t")])
    logger.error("several", exc_info=group)


def _bind(logger: logging.Logger) -> None:
    bind_contextvars(who=KEY)
    logger.info("x")


CARRIERS: dict[str, Callable[[logging.Logger], None]] = {
    "message": lambda log: log.info(f"key {KEY}"),
    "argument": lambda log: log.info("key %s at %r", KEY, DATABASE),
    "mapping argument": lambda log: log.info("%(key)s", {"key": KEY}),
    "extra": lambda log: log.info("x", extra={"found": KEY, "where": DATABASE, "hook": WEBHOOK}),
    "sensitive names": lambda log: log.info(
        "x",
        extra={
            "authorization": "s3cr3t",
            "X-API-Key": "s3cr3t",
            "api_key": PASSWORD,
            "password": PASSWORD,
            "client_secret": ["s3cr3t"],
            "token": {"value": "s3cr3t"},
            "database_url": DATABASE,
            "redis_url": "redis://:hunter22@cache",
            "BYTHEBOOK_ALERT_WEBHOOK": WEBHOOK,
        },
    ),
    "nested": lambda log: log.info("x", extra={"a": [{"b": ({"c": {KEY: DATABASE}},)}]}),
    "nested name": lambda log: log.info(
        "x", extra={"a": [{"headers": {"Authorization": "s3cr3t"}}]}
    ),
    "headers": lambda log: log.info(
        "x", extra={"headers": [(b"authorization", b"Bearer s3cr3t"), (b"x-api-key", b"s3cr3t")]}
    ),
    "headers in a text": lambda log: log.info(
        "scope %s", {"headers": [(b"authorization", b"Basic s3cr3t"), (b"x-api-key", b"s3cr3t")]}
    ),
    "bytes": lambda log: log.info("x", extra={"body": KEY.encode()}),
    "set": lambda log: log.info("x", extra={"keys": {KEY}}),
    "dataclass": lambda log: log.info("x", extra={"client": Client("ada", "s3cr3t")}),
    "exception in extra": lambda log: log.info("x", extra={"error": OSError(DATABASE)}),
    "bearer": lambda log: log.info("sent bearer s3cr3t.x-y"),
    "header line": lambda log: log.info("X-API-Key: s3cr3t"),
    "JSON": lambda log: log.info('{"password": "s3cr3t", "n": 1}'),
    "JSON in JSON": lambda log: log.info(json.dumps(json.dumps({"password": "s3cr3t"}))),
    "quoted password with spaces": lambda log: log.info(
        f"password={PASSWORD[:3]!r} secret='s3cr3t x'"
    ),
    "DSN": lambda log: log.info("host=db password=s3cr3t dbname=x"),
    "user in an address": lambda log: log.info("GET https://ada:s3cr3t@host/a failed"),
    "query of an address": lambda log: log.info("GET https://host/a?token=s3cr3t&x=1"),
    "decoded password": lambda log: log.info("no user with gr8/word@x"),
    "path of the webhook": lambda log: log.info("POST /services/T0/B0/abcdefghijkl?sig=mnop"),
    "traceback, cause and note": _raise_chained,
    "group": _in_group,
    "stack": lambda log: log.info("x " + KEY, stack_info=True),
    "deeper than is looked": lambda log: log.info("x", extra={"a": [[[[[[[[[[KEY]]]]]]]]]]}),
    "unshowable": lambda log: log.info("x", extra={"a": Unshowable(), "b": KEY}),
    "a line that cannot be made": lambda log: log.info("%d " + KEY, DATABASE),
    "an argument that cannot be shown": lambda log: log.info("%s", Unshowable()),
    "bound to the request": _bind,
}


@pytest.mark.parametrize("name", CARRIERS)
def test_no_secret_is_told_whatever_way_a_line_carries_it(
    name: str, either: Lines, capfd: pytest.CaptureFixture[str]
) -> None:
    CARRIERS[name](either.logger)
    assert either.text
    for leak in LEAKS:
        assert leak not in either.text
        assert json.dumps(leak)[1:-1] not in either.text
        assert repr(leak)[1:-1] not in either.text
    assert capfd.readouterr() == ("", "")  # logging's own report of a bad line shows its arguments


def test_a_line_that_cannot_be_made_says_where(lines: Lines) -> None:
    lines.logger.info("%d", "no number")
    assert "test_logs" in lines.last["event"]
    assert "could not be written" in lines.last["event"]


ODD_PASSWORDS = ("postgresql://ada:pa/ss#word@db/x", "redis://ada:pa@ss#word@cache/0")


@pytest.mark.parametrize("address", ODD_PASSWORDS)
def test_a_password_with_marks_in_it_is_hidden_as_well(address: str) -> None:
    hider = Hider(secrets_in([address]))
    assert "word" not in hider.text(f"{address.split(':')[2].rpartition('@')[0]} is wrong")


NAMED = (
    "postgresql://bythebook:gr8word@db:5432/bythebook?sslmode=require",
    "postgresql://bythebook@db/bythebook",
    "redis://cache:6379/0",
)


@pytest.mark.parametrize(
    "harmless",
    [
        'File "/srv/site-packages/bythebook/operate/journal.py", line 5',
        "https://example.org/bythebook/read?sslmode=require",
        "the records database bythebook at db:5432 refuses this user",
    ],
)
def test_of_a_database_only_the_password_is_secret(harmless: str) -> None:
    hider = Hider(secrets_in(NAMED))
    assert hider.text(harmless) == harmless
    assert "gr8word" not in hider.text("user bythebook:gr8word, gr8word")


@pytest.mark.parametrize(
    "harmless",
    [
        "a question was not recorded: the records database books at db:5432 cannot be reached",
        "tokens 12, 3 secrets of cooking",
        "GET https://host:8000/read/book?q=1",
        f"key {key_prefix(KEY)} was revoked",
        "Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)",
    ],
)
def test_what_is_no_secret_is_told_as_it_is(harmless: str) -> None:
    assert Hider(SECRETS).text(harmless) == harmless


def test_counts_of_tokens_are_no_secret(lines: Lines) -> None:
    lines.logger.info("x", extra={"tokens": 12, "password": "s3cr3t"})
    assert (lines.last["tokens"], lines.last["password"]) == (12, HIDDEN)


PROCESS = """
import logging, sys, threading, warnings
from bythebook.adapters.operations.json_logs import set_up_logs
set_up_logs("info", "auto", ["hunter22"])
logging.getLogger("uvicorn.error").info("started", extra={"color_message": "x"})
logging.getLogger("bythebook.http").debug("too fine")
logging.getLogger("httpx").info("HTTP Request: POST https://hooks.example/hunter22")
logging.getLogger("aiosqlite").debug("SELECT")
warnings.warn("password=hunter22")
def fail():
    raise RuntimeError("hunter22")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
class Bad:
    def __del__(self):
        fail()
bad = Bad()
del bad
raise RuntimeError("hunter22")
"""


def test_all_lines_of_a_process_have_one_shape_down_to_its_last() -> None:
    done = subprocess.run([sys.executable, "-c", PROCESS], capture_output=True, text=True)
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["logger"].split(".")[0] for line in told] == ["uvicorn", "py", *["bythebook"] * 3]
    assert told[0]["event"] == "started"
    assert "color_message" not in told[0]
    assert [line["level"] for line in told[2:]] == ["error", "error", "critical"]
    assert all("RuntimeError" in line["exception"] for line in told[2:])
    assert "hunter22" not in done.stderr
