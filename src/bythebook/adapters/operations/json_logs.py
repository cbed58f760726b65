"""Logs: a JSON object a line, or text for a terminal; all libraries' lines in the same shape."""

import json
import logging
import sys
import threading
from collections.abc import Sequence
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bythebook.adapters.operations.log_secrets import Hider

LogFormat = Literal["auto", "json", "text"]
# Other libraries may log statements, addresses or headers below this level.
_OTHERS_LEVEL = logging.WARNING
_OURS = ("bythebook", "uvicorn")
_FIRST = ("timestamp", "level", "logger", "event")
_log = logging.getLogger("bythebook.process")


def set_up_logs(level: str, log_format: LogFormat, secrets: Sequence[str] = ()) -> None:
    """Send all that is logged in this process to stderr, without the secrets."""
    stream = sys.stderr
    as_json = log_format == "json" or (log_format == "auto" and not stream.isatty())
    logging.getLogger().handlers[:] = [log_handler(stream, as_json=as_json, secrets=secrets)]
    logging.getLogger().setLevel(_OTHERS_LEVEL)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_end
    threading.excepthook = _log_uncaught
    sys.unraisablehook = _log_uncaught


def log_handler(stream: TextIO, *, as_json: bool, secrets: Sequence[str] = ()) -> logging.Handler:
    """Make what writes lines to a stream."""
    handler = _Handler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _Told(Hider(secrets)),
                _renderer(stream, as_json=as_json),
            ],
        )
    )
    return handler


def _renderer(stream: TextIO, *, as_json: bool) -> Processor:
    if as_json:
        return structlog.processors.JSONRenderer(serializer=json.dumps)
    return structlog.dev.ConsoleRenderer(
        colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback
    )


class _Told:
    """Puts what a line says in order: no secrets, nothing empty, the usual fields first."""

    def __init__(self, hider: Hider) -> None:
        self._hider = hider

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event.pop("color_message", None)  # uvicorn's text once more, with colours
        fields = self._hider.fields({key: one for key, one in event.items() if one is not None})
        fields["event"] = str(fields.get("event", "")).strip()
        return {key: fields[key] for key in (*_FIRST, *fields) if key in fields}


class _Handler(logging.StreamHandler[TextIO]):
    """Writes lines; where one cannot be made it says so, and shows nothing of it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Stand in for logging's own, which would print all that the line was to be made of."""
        if isinstance(record.msg, _Lost):
            return
        lost = _Lost(f"a line of the log at {record.module}:{record.lineno} could not be written")
        self.handle(logging.makeLogRecord(record.__dict__ | {"msg": lost, "args": ()} | _BARE))


class _Lost(str):
    """Says that a line was lost."""

    __slots__ = ()


_BARE = {"exc_info": None, "exc_text": None, "stack_info": None}


def _log_end(kind: type[BaseException], error: BaseException, _trace: object) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        _log.critical("the process ends by a defect", exc_info=error)


def _log_uncaught(raised: "threading.ExceptHookArgs | sys.UnraisableHookArgs") -> None:
    _log.error("nobody caught this", exc_info=raised.exc_value)
