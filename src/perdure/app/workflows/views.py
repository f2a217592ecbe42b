"""Views of workflows: versions, variables with their history, and executions of tasks."""

from __future__ import annotations

from typing import Any

import msgspec


class WorkflowView(msgspec.Struct, frozen=True):
    """One version of a workflow; `process_version` is that of the process it is deployed as."""

    id: str
    version: str
    status: str
    process_version: int
    name: str
    is_latest: bool
    definition: str
    deployed_at: str | None = None


class VariableView(msgspec.Struct, frozen=True):
    """A version of a variable: its value, who wrote it and when. `scope` is instance, workflow or global."""

    name: str
    value: Any
    type: str
    version: int
    created_at: str | None
    created_by: str
    updated_at: str | None
    updated_by: str
    scope: str = "instance"
    owner: str = ""
    """The instance or the workflow it belongs to; empty of a global one."""


class ExecutionView(msgspec.Struct, frozen=True):
    """One attempt of a task: what went in and came out, or why it failed. `cost` is None where nobody told it."""

    task: str
    kind: str
    actor: str
    attempt: int
    state: str
    started_at: str | None
    ended_at: str | None = None
    duration_ms: float | None = None
    input: Any = None
    output: Any = None
    error: str = ""
    cost: str | None = None
    tokens: int = 0
    called: str = ""
    """The instance of the workflow that a call activity called."""
