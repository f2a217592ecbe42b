"""Server-sent events as they arrive: bytes in, whole events out."""

from __future__ import annotations

from typing import NamedTuple


class SentEvent(NamedTuple):
    """One event; without data it only says where the stream has come to. A pulse has neither."""

    id: str = ""
    data: str = ""


PULSE = SentEvent()
BOUNDED = "stream.bounded"
"""The event by which a server ends a stream that has sent as much as one may: a pulse, and nothing that happened."""


class Reader:
    """Takes what comes, however it was cut, and gives every event once it is whole."""

    def __init__(self) -> None:
        self._rest = b""
        self._id = self._name = ""
        self._data: list[str] = []

    def read(self, chunk: bytes) -> list[SentEvent]:
        """The events that this chunk completes, in their order."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        found: list[SentEvent] = []
        for line in lines:
            text = line.removesuffix(b"\r").decode("utf-8", "replace")
            if not text:
                found.extend(self._ended())
            elif text.startswith(":"):
                found.append(PULSE)
            else:
                self._take(text)
        return found

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._id = value
        elif name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)

    def _ended(self) -> list[SentEvent]:
        event = SentEvent(self._id, "\n".join(self._data)) if self._name != BOUNDED else PULSE
        self._id, self._name, self._data = "", "", []
        return [event] if event != PULSE else []
