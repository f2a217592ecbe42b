"""Calls of processes: the flags that go to a called process and come back, its depth, and its suspension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.journal_entries import InstanceResumed, InstanceSuspended
from perdure.bpmn.machine.state import Flags
from perdure.bpmn.model import CallActivity
from perdure.verb_contract import FlagContract

Names = frozenset[str] | None
"""Names of flags; None is every flag."""
CANNOT_CALL = "call.cannot_start"
GRAVER_CALL = "call.graver"
MAX_CALLS = 32
"""How deep processes may call each other: one that always calls itself would never stop."""
CALLER_SUSPENDED = "what called it is suspended"


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


def shared_flags(flags: Flags, deployed: Deployed) -> Flags:
    declared = {contract.name for contract in deployed.flags}
    return {name: value for name, value in flags.items() if deployed.is_loose or name in declared}


def flags_of_arguments(flags: Iterable[FlagContract], data: Mapping[str, Any]) -> Flags:
    """The flags whose first value is a field of the data that an instance begins with."""
    found: Flags = {}
    for flag in flags:
        value = data.get(flag.argument) if flag.argument else None
        if isinstance(value, str | bool | int):
            found[flag.name] = str(value) if flag.type == "string" and flag.once else value
    return found


def is_held_by_caller(entries: Iterable[object]) -> bool:
    """Whether an instance is suspended only because what called it is."""
    turns = [entry for entry in entries if isinstance(entry, InstanceSuspended | InstanceResumed)]
    return bool(turns) and isinstance(turns[-1], InstanceSuspended) and turns[-1].reason == CALLER_SUSPENDED
