"""What the verbs of the desk do: as little as possible."""

from __future__ import annotations

from typing import Any

from perdure import BusinessError, verb


@verb("desk.note")
def note(call: Any) -> dict[str, Any]:
    return {"note_id": "n-1", "text": call.args["text"]}


@verb("desk.send")
def send(call: Any) -> dict[str, Any]:
    return {"sent": True}


@verb("desk.recall")
def recall(call: Any) -> dict[str, Any]:
    return {}


@verb("desk.wipe")
def wipe(call: Any) -> dict[str, Any]:
    return {}


@verb("desk.refuse")
def refuse(call: Any) -> dict[str, Any]:
    raise BusinessError("desk.closed", "the desk is closed")
