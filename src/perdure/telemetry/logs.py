"""Log lines that say which trace, runbook and tenant they belong to; as text, or as one JSON object a line."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import NamedTuple, TextIO

from perdure.telemetry.settings import LogForm

LOGGER = "perdure"
HIDDEN = "[hidden]"
_SECRETS = (
    re.compile(r"perdure_[A-Za-z0-9_-]+_[A-Za-z0-9]+_[A-Za-z0-9_-]{20,}"),
    re.compile(r"\bwait_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"),
    re.compile(r"(?i)(?<![a-z])(?:password|passwd|secret|token|api[_-]?key)(?:\s*[=:]\s*)\S+"),
)


class LogScope(NamedTuple):
    """What a line is about."""

    trace_id: str = ""
    runbook: str = ""
    tenant: str = ""


NOWHERE = LogScope()
_SCOPE: ContextVar[LogScope] = ContextVar("perdure_log_scope", default=NOWHERE)


@contextmanager
def logging_within(scope: LogScope) -> Iterator[None]:
    """Lines logged inside, also by handlers and in their threads, are about this."""
    token = _SCOPE.set(scope)
    try:
        yield
    finally:
        _SCOPE.reset(token)


def without_secrets(text: str) -> str:
    """The text with whatever has the shape of a key, a token or a password taken out."""
    for pattern in _SECRETS:
        text = pattern.sub(HIDDEN, text)
    return text


class Correlated(logging.Filter):
    """Adds `trace_id`, `runbook` and `tenant` to every record; what a line says of itself counts more."""

    def filter(self, record: logging.LogRecord) -> bool:
        scope = _SCOPE.get()
        for name, value in zip(LogScope._fields, scope, strict=True):
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


class TextLines(logging.Formatter):
    """For people: time, level, words, and in brackets what the line is about."""

    def format(self, record: logging.LogRecord) -> str:
        about = " ".join(f"{name}={value}" for name, value in _about(record).items())
        line = f"{_time(record)} {record.levelname} {record.name}: {_words(self, record)}"
        return f"{line} [{about}]" if about else line


class JsonLines(logging.Formatter):
    """For machines: one object a line, whatever the words hold."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record), "level": record.levelname.lower(), "logger": record.name,
            "message": _words(self, record), **_about(record),
        }  # fmt: skip
        return json.dumps(line, ensure_ascii=False)


def configure_logs(form: LogForm, stream: TextIO | None = None) -> logging.Handler | None:
    """Write the lines of the platform to `stream`, by default standard error; give the handler back to take it off."""
    if not form:
        return None
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(Correlated())
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logger = logging.getLogger(LOGGER)
    logger.addHandler(handler)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    logger.propagate = False
    return handler


def _words(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    words = record.getMessage()
    if record.exc_info:
        words = f"{words}\n{formatter.formatException(record.exc_info)}"
    return without_secrets(words)


def _about(record: logging.LogRecord) -> dict[str, str]:
    found = {name: str(getattr(record, name, "") or "") for name in LogScope._fields}
    return {name: value for name, value in found.items() if value}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
