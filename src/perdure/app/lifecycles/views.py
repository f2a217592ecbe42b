"""Views of lifecycles: what every surface shows of them."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.documents.delivery_view import DeliveryView


class CallText(msgspec.Struct, frozen=True):
    """A call that can be made as it stands; `text` is its S-expression."""

    verb: str
    args: dict[str, Any]
    text: str


class PendingTaskView(msgspec.Struct, frozen=True):
    """What was asked for to meet one requirement, once."""

    correlation_id: str
    key: str
    blocker: str
    verb: str
    status: str
    attempt: int
    created_at: str
    by: str
    expires_at: str | None
    expected: int
    received: int
    failed: int
    cargo: list[str]
    error: str
    number: int = 0
    """By which it is retried."""
    deliveries: list[DeliveryView] = []
    """What was sent to ask for it."""


class BlockerView(msgspec.Struct, frozen=True):
    """Why an instance does not go on: every missing piece, and the call that would bring it."""

    key: str
    type: str
    description: str
    missing: list[str]
    resolution: CallText | None = None
    is_automatic: bool = False
    attempts: int = 0
    max_attempts: int = 0
    reason: str = ""
    """The reason why the resolution cannot be called, or failed last."""


class RequirementView(msgspec.Struct, frozen=True):
    key: str
    type: str
    description: str
    is_met: bool
    missing: list[str]


class TransitionView(msgspec.Struct, frozen=True):
    """A way out of the present state, and everything it still misses."""

    target: str
    mode: str
    description: str
    is_open: bool
    missing: list[str]
    role: str = ""
    needs_reason: bool = False
    four_eyes: bool = False
    proposed_by: str = ""
    due: str | None = None


class ActionView(msgspec.Struct, frozen=True):
    """A call that is offered in the present state."""

    name: str
    description: str
    call: CallText | None
    reason: str = ""
    is_automatic: bool = False


class MoveView(msgspec.Struct, frozen=True):
    """One move of the history."""

    source: str
    target: str
    cause: str
    at: str
    by: str
    reason: str


class StuckView(msgspec.Struct, frozen=True):
    code: str
    text: str
    since: str


class LifecycleIncident(msgspec.Struct, frozen=True):
    """What does not go on without a person; `task` is the number of a task, 0 for the whole instance."""

    task: int
    code: str
    text: str
    since: str


class ProposedMigration(msgspec.Struct, frozen=True):
    """A migration past a decision, which waits for a second person who could have taken it."""

    version: int
    state: str
    by: str
    reason: str


class LifecycleItem(msgspec.Struct, frozen=True):
    """An instance in a list."""

    id: str
    lifecycle: str
    version: int
    subject: str
    state: str
    status: str
    entered_at: str
    blockers: list[str]
    is_overdue: bool
    is_stuck: bool = False


class LifecycleStatus(msgspec.Struct, frozen=True):
    """An instance with all there is to know of it, as the facts stand now."""

    id: str
    lifecycle: str
    version: int
    subject: str
    state: str
    description: str
    status: str
    progress: int
    """How far it has come, from 0 to 100."""
    is_overdue: bool
    started_at: str
    started_by: str
    entered_at: str
    ended_at: str | None
    blockers: list[BlockerView]
    requirements: list[RequirementView]
    transitions: list[TransitionView]
    actions: list[ActionView]
    tasks: list[PendingTaskView]
    history: list[MoveView]
    stuck: StuckView | None
    sequence: int
    migration: ProposedMigration | None = None
    incidents: list[LifecycleIncident] = []


class LifecycleBegun(msgspec.Struct, frozen=True):
    """An instance, and whether it was started now or found."""

    is_new: bool
    instance: LifecycleStatus


class TransitionAnswer(msgspec.Struct, frozen=True):
    """`moved`, or `proposed` where a second person has to agree.

    `reopened` is proposed anew, because what the first person proposed it by has `changed` since.
    """

    answer: str
    instance: LifecycleStatus
    changed: list[str] = []


class StateView(msgspec.Struct, frozen=True):
    """One state of a definition with the keys of its requirements."""

    name: str
    description: str
    is_terminal: bool
    requirements: list[str]


class LifecycleVersionView(msgspec.Struct, frozen=True):
    """One version of a definition; its states are in the order they were written."""

    lifecycle: str
    version: int
    label: str
    hash: str
    status: str
    deployed_at: str
    by: str
    is_latest: bool
    states: list[StateView] = []


class LifecycleFinding(msgspec.Struct, frozen=True):
    """What lint says to a lifecycle."""

    code: str
    severity: str
    line: int
    column: int
    reason: str
    hint: str


class DeployedLifecycle(msgspec.Struct, frozen=True):
    lifecycle: str
    version: int
    hash: str
    is_new: bool
    findings: list[LifecycleFinding]


class MigrationPlan(msgspec.Struct, frozen=True):
    """What a migration does, or would do where it is a dry run.

    One that leads past a decision of some people, or of two, waits for a second one: until then nothing is done.
    """

    id: str
    source_version: int
    target_version: int
    source_state: str
    target_state: str
    cancelled_tasks: list[str]
    requirements: list[str]
    is_done: bool
    is_proposed: bool = False


class TaskReceipt(msgspec.Struct, frozen=True):
    """What became of a task result: `accepted`, or `known` before, or `over` because its task is."""

    answer: str
    correlation_id: str
    task: PendingTaskView
    instance: str
    state: str


class LifecycleDrawing(msgspec.Struct, frozen=True):
    """A picture of a lifecycle with the present state of one instance."""

    id: str
    state: str
    svg: str


class EntryView(msgspec.Struct, frozen=True):
    """One entry of the journal of an instance, with the facts that were read for it."""

    sequence: int
    at: str
    by: str
    entry: str
    data: dict[str, Any]
