"""A desk in memory: drafts with revisions, runs that go as they are told, tasks, records."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from perdure.app.entity_lookup import MatchView
from perdure.app.runbooks.views import RunbookView, StepView
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.plan import Plan
from perdure.surfaces.repl.conversation_messages import News, OpenSeen, Papers, Rows, TaskSeen, Told
from perdure.surfaces.repl.platform_adapter import Kept
from tests.surfaces.repl.project import CLIENTS

TASK = TaskSeen(
    "t:1", "Review the case", groups="reviewers",
    form={"required": ["approved"], "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}}},
)  # fmt: skip


class MemoryPapers:
    """Keeps what was wished of lifecycles and documents."""

    def __init__(self) -> None:
        self.wished: list[Papers] = []

    async def answer(self, wish: Papers) -> News:
        self.wished.append(wish)
        return Told("Done.")


class MemoryDesk:
    """Every step completes, except durable ones, which park."""

    def __init__(self, durable: tuple[str, ...] = ("document.request",), tasks: tuple[TaskSeen, ...] = (TASK,)) -> None:
        self._tasks = tasks
        self.revisions: dict[str, list[tuple[Draft, str]]] = {}
        self.at: dict[str, int] = {}
        self.plans: dict[str, Plan] = {}
        self.confirmations: dict[str, str] = {}
        self.answers: list[tuple[str, dict[str, Any]]] = []
        self.claimed: list[str] = []
        self.steered: list[tuple[str, str, str]] = []
        self._durable = durable
        self.papers = MemoryPapers()

    async def save(self, id: str, draft: Draft, text: str) -> str:
        id = id or f"rb-{len(self.revisions) + 1}"
        kept = self.revisions.setdefault(id, [])[: self.at.get(id, -1) + 1]
        self.revisions[id] = [*kept, (draft, text)]
        self.at[id] = len(kept)
        return id

    async def undo(self, id: str) -> Kept:
        if self.at[id] == 0:
            raise RejectedError(Rejection("wrong_state", "undo", "runbook", id, "there is nothing before it"))
        text = self.revisions[id][self.at[id]][1]
        self.at[id] -= 1
        return Kept(id, self.revisions[id][self.at[id]][0], text)

    async def redo(self, id: str) -> Kept:
        if self.at[id] + 1 >= len(self.revisions[id]):
            raise RejectedError(Rejection("wrong_state", "redo", "runbook", id, "there is nothing after it"))
        self.at[id] += 1
        return Kept(id, *self.revisions[id][self.at[id]])

    async def load(self, id: str) -> Kept:
        if id not in self.revisions:
            raise RejectedError(Rejection("not_found", "find", "runbook", id, "there is none"))
        run = self._run(id) if id in self.plans else None
        return Kept(id, self.revisions[id][self.at[id]][0], "", run)

    async def open(self) -> Sequence[OpenSeen]:
        return [OpenSeen(id, "draft", kept[-1][0].title or "a plan") for id, kept in self.revisions.items()]

    async def start(self, id: str, plan: Plan) -> RunbookView:
        self.plans[id] = plan
        confirmation = self.revisions[id][self.at[id]][0].confirmation
        self.confirmations[id] = confirmation.said if confirmation is not None else ""
        run = self._run(id)
        return msgspec.structs.replace(
            run, steps=[msgspec.structs.replace(step, state="running") for step in run.steps]
        )

    async def follow(self, id: str, waits: bool) -> AsyncIterator[RunbookView]:
        yield self._run(id)

    async def look(self, id: str) -> RunbookView:
        return self._run(id)

    async def cancel(self, id: str, reason: str) -> None:
        self.steered.append(("cancel", "", reason))

    async def retry(self, id: str, step: str) -> None:
        self.steered.append(("retry", step, ""))

    async def skip(self, id: str, step: str, reason: str) -> None:
        self.steered.append(("skip", step, reason))

    async def tasks(self, runbook: str = "") -> Sequence[TaskSeen]:
        return self._tasks

    async def claim(self, key: str) -> TaskSeen:
        self.claimed.append(key)
        return TASK

    async def answer(self, key: str, data: dict[str, Any], seen: str = "") -> None:
        self.answers.append((key, data))

    async def events(self, id: str) -> Rows:
        return Rows("Events", ("when", "step", "event"), (("now", "one", "StepStarted"),), "")

    async def incidents(self) -> Rows:
        return Rows("Incidents", ("id", "why"), (), "Nothing needs a person.")

    async def engines(self) -> Rows:
        return Rows("Engines", ("engine", "at", "answers"), (("embedded", "this store", "reachable"),))

    async def impact(self, file: str) -> Rows:
        rows = (("review", "v1, 2 at look", "stays pinned", f"gone from {file}"),) if file else ()
        return Rows("Impact", ("what", "state", "verdict", "why"), rows, "Nothing runs that it concerns.")

    async def letters(self) -> Rows:
        return Rows("Dead letters", ("id", "why"), (), "No dead letters.")

    async def look_up(self, entity: str, text: str) -> Sequence[MatchView]:
        words = text.lower().split()
        return [
            MatchView(lei, name, country)
            for lei, name, country in CLIENTS
            if all(word in name.lower() for word in words) or text == lei
        ]

    def _run(self, id: str) -> RunbookView:
        plan = self.plans[id]
        steps = [
            StepView(
                step.name, number, step.verb, "parked" if step.verb in self._durable else "completed", step.sentence,
                section=step.section, result={"case_id": "C-1"} if step.verb == "kyc.open-case" else None,
            )
            for number, step in enumerate(plan.steps, 1)
        ]  # fmt: skip
        done = sum(1 for step in steps if step.state == "completed")
        state = "completed" if done == len(steps) else "parked"
        progress = f"{done} of {len(steps)} steps complete"
        return RunbookView(id, state, "", steps, progress, "", 1, 1, True, None, None, "default", "local")
