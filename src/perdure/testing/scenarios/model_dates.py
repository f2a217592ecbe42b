"""Dates of a scenario's model, moved to where the time of a carrier begins."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec
from msgspec.structs import replace

from perdure.bpmn.model import TimerTrigger, Value
from perdure.moments import iso, parse_date_time
from perdure.sources import Micros

Part = TypeVar("Part")


def shifted(part: Part, by: Micros) -> Part:
    """A part of a model with its dates moved."""
    made: Any = part
    if isinstance(part, TimerTrigger) and part.kind == "date" and part.value.kind == "literal":
        made = replace(part, value=Value(iso(parse_date_time(part.value.text) + by) or ""))
    elif isinstance(part, msgspec.Struct):
        found = {name: getattr(part, name) for name in part.__struct_fields__}
        moved = {name: shifted(value, by) for name, value in found.items()}
        changed = {name: value for name, value in moved.items() if value is not found[name]}
        made = replace(part, **changed) if changed else part
    elif isinstance(part, tuple):
        several = tuple(shifted(each, by) for each in part)
        made = several if any(one is not other for one, other in zip(several, part, strict=True)) else part
    return cast("Part", made)
