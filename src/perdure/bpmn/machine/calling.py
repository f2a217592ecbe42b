"""Which flags go to a called process, and which come back."""

from __future__ import annotations

from typing import Literal

from perdure.bpmn.machine.state import Flags
from perdure.bpmn.model import CallActivity

Names = frozenset[str] | None
"""Names of flags; None is every flag."""


def handed(call: CallActivity) -> Names:
    """What the called process is given."""
    return None if call.hands_all else _mapped(call, "input")


def returned(call: CallActivity) -> Names:
    """What comes back: output mappings say it wherever there are any, as on Camunda 8."""
    mapped = _mapped(call, "output")
    return None if call.returns_all and not mapped else mapped


def only(flags: Flags, names: Names) -> Flags:
    return {name: value for name, value in flags.items() if names is None or name in names}


def _mapped(call: CallActivity, direction: Literal["input", "output"]) -> frozenset[str]:
    return frozenset(each.target for each in call.mappings if each.direction == direction)
