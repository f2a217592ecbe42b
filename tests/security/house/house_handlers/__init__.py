"""Handlers of the house that is attacked: each run leaves a line in a file of its own verb."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from perdure import verb


def _done(call: Any) -> dict[str, Any]:
    with Path(f"{call.verb}.done").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tenant": call.tenant, "args": call.args}) + "\n")
    return {}


@verb("case.decide")
def decide(call: Any) -> dict[str, Any]:
    return _done(call)


@verb("vault.empty")
def empty(call: Any) -> dict[str, Any]:
    return _done(call)


@verb("pub.note")
def note(call: Any) -> dict[str, Any]:
    return _done(call)
