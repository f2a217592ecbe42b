"""A short history of a call that is a human task, with every entry of one."""

from __future__ import annotations

from typing import Any

from perdure.human_tasks import Rung
from perdure.runbooks.machine import journal_entries as e

SECOND = 1_000_000
LADDER = (Rung(60 * SECOND, "remind"), Rung(120 * SECOND, "escalate", "board"))


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
