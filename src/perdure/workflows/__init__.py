"""Workflows: processes written in Python or YAML. Nodes, the builder, the compiler to model, verbs and handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.workflows.compiler import CompiledWorkflow as CompiledWorkflow
    from perdure.workflows.context import WorkflowAgent as WorkflowAgent
    from perdure.workflows.context import WorkflowContext as WorkflowContext
    from perdure.workflows.nodes import CallActivity as CallActivity
    from perdure.workflows.nodes import CompensationHandler as CompensationHandler
    from perdure.workflows.nodes import EndEvent as EndEvent
    from perdure.workflows.nodes import ErrorEvent as ErrorEvent
    from perdure.workflows.nodes import EventBasedGateway as EventBasedGateway
    from perdure.workflows.nodes import ExclusiveGateway as ExclusiveGateway
    from perdure.workflows.nodes import InclusiveGateway as InclusiveGateway
    from perdure.workflows.nodes import MessageEvent as MessageEvent
    from perdure.workflows.nodes import ParallelGateway as ParallelGateway
    from perdure.workflows.nodes import RetryPolicy as RetryPolicy
    from perdure.workflows.nodes import ScriptTask as ScriptTask
    from perdure.workflows.nodes import ServiceTask as ServiceTask
    from perdure.workflows.nodes import SignalEvent as SignalEvent
    from perdure.workflows.nodes import Timer as Timer
    from perdure.workflows.nodes import TimerEvent as TimerEvent
    from perdure.workflows.nodes import UserTask as UserTask
    from perdure.workflows.registry import WorkflowRegistry as WorkflowRegistry
    from perdure.workflows.transaction import WorkflowTransaction as WorkflowTransaction
    from perdure.workflows.workflow import Workflow as Workflow

_HOMES = {
    "compiler": ("CompiledWorkflow",),
    "context": ("WorkflowAgent", "WorkflowContext"),
    "nodes": (
        "CallActivity", "CompensationHandler", "EndEvent", "ErrorEvent", "EventBasedGateway", "ExclusiveGateway",
        "InclusiveGateway", "MessageEvent", "ParallelGateway", "RetryPolicy", "ScriptTask", "ServiceTask",
        "SignalEvent", "Timer", "TimerEvent", "UserTask",
    ),
    "registry": ("WorkflowRegistry",),
    "transaction": ("WorkflowTransaction",),
    "workflow": ("Workflow",),
}  # fmt: skip
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
