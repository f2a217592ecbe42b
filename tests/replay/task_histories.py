"""A short history of a call that is a human task, with every entry of one."""

from __future__ import annotations

from typing import Any

from perdure.human_tasks import Rung
from perdure.runbooks.machine import journal_entries as e

SECOND = 1_000_000
LADDER = (Rung(60 * SECOND, "remind"), Rung(120 * SECOND, "escalate", "board"))


def joint_history(started: e.Entry, at: Any, result: bytes) -> tuple[tuple[str, tuple[e.Entry, ...]], ...]:
    """A task of two groups: one answer is taken back, then both give the same."""
    return (
        ("StartCall", (
            started, e.StepParked(1, at(0), "loan.approve", "", at(900)),
            e.TaskOpened(1, 1, at(0), "", ("compliance + risk",)),
        )),
        ("Complete", (e.TaskAnswered(1, 1, at(1), "uwe", "compliance", result, "aa.bb", ("ada",), "zoe is ill"),)),
        ("ActOnTask", (e.TaskReopened(1, 1, at(2), ("uwe",), ("arguments",), "a slip"),)),
        ("Complete", (e.TaskAnswered(1, 1, at(3), "otto", "risk", result, "aa.cc"),)),
        ("Complete", (
            e.TaskAnswered(1, 1, at(4), "uwe", "compliance", result, "aa.cc"),
            e.TaskActed(1, 1, at(4), "complete", "uwe", seen="aa.cc"), e.CompletionReceived(1, 1, at(4), "m-1"),
            e.StepCompleted(1, at(4), result),
        )),
    )  # fmt: skip


def task_history(started: e.Entry, at: Any, result: bytes) -> tuple[tuple[str, tuple[e.Entry, ...]], ...]:
    return (
        ("StartCall", (
            started, e.StepParked(1, at(0), "loan.approve", "", at(900)),
            e.TaskOpened(
                1, 1, at(0), "rita", ("loans", "night"), ("otto",), "2026-11-20T00:00:00Z", at(300), "ada", LADDER,
                "Approve a loan", ("rita", "otto"), True,
            ),
        )),
        ("ActOnTask", (e.TaskActed(1, 1, at(1), "claim", "otto"),)),
        ("ActOnTask", (e.TaskActed(1, 1, at(2), "unclaim", "otto"),)),
        ("ActOnTask", (e.TaskActed(1, 1, at(3), "delegate", "otto", "zoe"),)),
        ("ActOnTask", (e.TaskActed(1, 1, at(4), "reassign", "chief", "uwe", ("day",), "zoe is ill", "aa.bb"),)),
        ("FireTimer", (e.TaskChased(1, 1, at(60), "remind"),)),
        ("FireTimer", (e.TaskChased(1, 1, at(120), "escalate", "board", "zoe"),)),
        ("Complete", (
            e.TaskActed(1, 1, at(130), "complete", "uwe", seen="aa.bb"), e.CompletionReceived(1, 1, at(130), "m-1"),
            e.StepCompleted(1, at(130), result),
        )),
    )  # fmt: skip
