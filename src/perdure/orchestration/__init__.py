"""Workflows in Python: everything that a program with workflows imports, and the engine that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.orchestration.engine import WorkflowEngine as WorkflowEngine
    from perdure.orchestration.instance import ProcessVariable as ProcessVariable
    from perdure.orchestration.instance import WorkflowInstance as WorkflowInstance
    from perdure.orchestration.message_bus import Message as Message
    from perdure.orchestration.message_bus import MessageBus as MessageBus
    from perdure.orchestration.migration import WorkflowMigration as WorkflowMigration
    from perdure.workflows import CallActivity as CallActivity
    from perdure.workflows import CompensationHandler as CompensationHandler
    from perdure.workflows import EndEvent as EndEvent
    from perdure.workflows import ErrorEvent as ErrorEvent
    from perdure.workflows import EventBasedGateway as EventBasedGateway
    from perdure.workflows import ExclusiveGateway as ExclusiveGateway
    from perdure.workflows import InclusiveGateway as InclusiveGateway
    from perdure.workflows import MessageEvent as MessageEvent
    from perdure.workflows import ParallelGateway as ParallelGateway
    from perdure.workflows import RetryPolicy as RetryPolicy
    from perdure.workflows import ScriptTask as ScriptTask
    from perdure.workflows import ServiceTask as ServiceTask
    from perdure.workflows import SignalEvent as SignalEvent
    from perdure.workflows import Timer as Timer
    from perdure.workflows import TimerEvent as TimerEvent
    from perdure.workflows import UserTask as UserTask
    from perdure.workflows import Workflow as Workflow
    from perdure.workflows import WorkflowAgent as WorkflowAgent
    from perdure.workflows import WorkflowContext as WorkflowContext
    from perdure.workflows import WorkflowRegistry as WorkflowRegistry
    from perdure.workflows import WorkflowTransaction as WorkflowTransaction

_OWN = {
    "engine": ("WorkflowEngine",),
    "instance": ("ProcessVariable", "WorkflowInstance"),
    "message_bus": ("Message", "MessageBus"),
    "migration": ("WorkflowMigration",),
}
_WORKFLOWS = (
    "CallActivity", "CompensationHandler", "EndEvent", "ErrorEvent", "EventBasedGateway", "ExclusiveGateway",
    "InclusiveGateway", "MessageEvent", "ParallelGateway", "RetryPolicy", "ScriptTask", "ServiceTask", "SignalEvent",
    "Timer", "TimerEvent", "UserTask", "Workflow", "WorkflowAgent", "WorkflowContext", "WorkflowRegistry",
    "WorkflowTransaction",
)  # fmt: skip
__all__ = sorted([*_WORKFLOWS, *(name for names in _OWN.values() for name in names)])  # noqa: PLE0605
_own, _ = lazy_exports(__name__, _OWN)


def __getattr__(name: str) -> object:
    if name not in _WORKFLOWS:
        return _own(name)
    from perdure import workflows  # noqa: PLC0415  loaded when first used

    return getattr(workflows, name)


def __dir__() -> list[str]:
    return __all__
