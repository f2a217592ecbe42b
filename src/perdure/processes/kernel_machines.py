"""Kernel machines of processes: the kernel keeps processes and instances in our journal with these two."""

from __future__ import annotations

from typing import Any

from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.process_machine import ProcessMachine
from perdure.cron import next_cron
from perdure.journal import Machine
from perdure.processes.plan_cache import Plans


def process_machines(plans: Plans) -> dict[str, Machine[Any, Any, Any]]:
    """The machines by their kind; `plans` are those that instances are decided by."""
    return {
        InstanceMachine.kind: InstanceMachine(plans, next_cron, remembers=True),
        ProcessMachine.kind: ProcessMachine(next_cron),
    }
