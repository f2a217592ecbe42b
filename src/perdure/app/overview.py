"""How things stand, at a glance: what needs me, what is stuck, what runs, how much goes through."""

from __future__ import annotations

import msgspec

from perdure.app.task_views import TaskView


class NeedsMe(msgspec.Struct, frozen=True):
    """Open tasks that the principal may answer, and the first of them."""

    tasks: int
    first: list[TaskView]


class Stuck(msgspec.Struct, frozen=True):
    incidents: int
    dead_letters: int
    overdue_tasks: int


class Running(msgspec.Struct, frozen=True):
    """What has not ended, by state."""

    runbooks: dict[str, int]
    instances: dict[str, int]


class Hour(msgspec.Struct, frozen=True):
    """Runbooks and calls of one hour that begins `at`; `failed` ones are among those `ended`."""

    at: str
    started: int
    ended: int
    failed: int


class Waits(msgspec.Struct, frozen=True):
    """Waits of one kind, and since when the oldest of them waits."""

    kind: str
    count: int
    oldest: str | None


class Overview(msgspec.Struct, frozen=True):
    """Counts go up to `counted_to` (hours to `counted_to_hourly`): one that is as large means that many or more."""

    needs_me: NeedsMe
    stuck: Stuck
    running: Running
    throughput: list[Hour]
    waits: list[Waits]
    at: str
    counted_to: int = 1000
    counted_to_hourly: int = 10_000
