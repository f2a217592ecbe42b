"""The platform adapter of a conversation: kept drafts, runs, tasks, records."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from perdure.app.entity_lookup import MatchView
from perdure.app.lists.cursors import MAX_LIMIT
from perdure.app.runbooks.views import RunbookView, StepView
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.drafts.draft import Draft, number_in
from perdure.runbooks.plan import Plan
from perdure.surfaces.repl.client_papers import ClientPapers
from perdure.surfaces.repl.conversation_messages import OpenSeen, Rows, TaskSeen
from perdure.surfaces.repl.impact_rows import impact_rows
from perdure.typed_reading import convert

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure
    from perdure.app.tasks.views import TaskView
    from perdure.verbs import Verb

MAX_OPEN = 20
REST_SECONDS = 30.0
Labels = dict[str, dict[str, str]]
"""Names that are said instead of keys: by step, by argument."""
OVER = ("completed", "cancelled")
MOVING = ("ready", "running")


class Kept(NamedTuple):
    """A draft as it is kept; `run` is there once it was started."""

    id: str
    draft: Draft
    text: str = ""
    run: RunbookView | None = None


class PlatformAdapter:
    """What a conversation asks of an open platform."""

    def __init__(self, perdure: Perdure, principal: str) -> None:
        self._perdure = perdure
        self._runbooks = perdure.runbooks
        self._principal = principal
        self._labels: dict[str, Labels] = {}
        self.papers = ClientPapers(perdure)

    # --- drafts --------------------------------------------------------------------------------------------------

    async def save(self, id: str, draft: Draft, text: str) -> str:
        if not id:
            return await self._runbooks.open_draft(draft)
        await self._runbooks.revise(id, draft, text)
        return id

    async def undo(self, id: str) -> Kept:
        return Kept(id, _draft(await self._runbooks.undo(id)))

    async def redo(self, id: str) -> Kept:
        return Kept(id, _draft(await self._runbooks.redo(id)))

    async def load(self, id: str) -> Kept:
        view = await self._runbooks.show(id)
        draft = await self._drafted(id)
        return Kept(view.id, draft, "", None if view.state == "draft" else await self._seen(view))

    async def open(self) -> Sequence[OpenSeen]:
        found: list[OpenSeen] = []
        for view in await self._runbooks.list(limit=MAX_OPEN * 5):
            if view.state not in OVER and view.principal == self._principal and len(found) < MAX_OPEN:
                draft = await self._drafted(view.id)
                title = draft.title or _planned(draft) or view.progress
                found.append(OpenSeen(view.id, view.state, title, (view.started_at or "")[:16].replace("T", " ")))
        return found

    async def _drafted(self, id: str) -> Draft:
        """A runbook that was started from a program never was a draft."""
        try:
            return _draft(await self._runbooks.draft(id))
        except RejectedError as error:
            if error.rejection.code != "wrong_state":
                raise
            return Draft()

    # --- runs ----------------------------------------------------------------------------------------------------

    async def start(self, id: str, plan: Plan) -> RunbookView:
        return await self._seen(await self._runbooks.start_draft(id, plan))

    async def look(self, id: str) -> RunbookView:
        return await self._seen(await self._runbooks.show(id))

    async def follow(self, id: str, waits: bool) -> AsyncIterator[RunbookView]:
        view = await self._runbooks.show(id)
        while True:
            if not waits and await self._rests(view):
                yield await self.look(id)
                return
            yield await self._seen(view)
            waits = False
            await anext(self._runbooks.events(id, after=view.sequence, follow=True), None)
            view = await self._runbooks.show(id)

    async def _seen(self, view: RunbookView) -> RunbookView:
        """The run in sentences, with names where the arguments hold keys."""
        if view.id not in self._labels:
            draft = await self._drafted(view.id)
            self._labels = {view.id: {entry.name: entry.labels for entry in draft.entries if entry.labels}}
        labels = self._labels[view.id]
        steps = [replace(step, sentence=self._sentence(step, labels.get(step.name, {}))) for step in view.steps]
        return replace(view, steps=steps)

    def _sentence(self, step: StepView, labels: dict[str, str]) -> str:
        verb = self._perdure.catalogue.find(step.verb) if step.verb and labels else None
        if verb is None or not isinstance(step.args, dict):
            return step.sentence or step.name
        return verb.sentence({**step.args, **labels})

    async def _rests(self, view: RunbookView) -> bool:
        """Nothing goes on by itself; a process gets a while to come to rest, because it is carried elsewhere."""
        if view.is_ended:
            return True
        if view.state not in ("parked", "escalated") or any(step.state in MOVING for step in view.steps):
            return False
        for step in view.steps:
            if step.state == "parked" and step.carrier is not None and step.carrier.instance:
                await self._perdure.instances.wait(step.carrier.instance, "rest", REST_SECONDS)
        return (await self._runbooks.show(view.id)).sequence == view.sequence

    async def cancel(self, id: str, reason: str) -> None:
        await self._runbooks.cancel(id, reason)

    async def retry(self, id: str, step: str) -> None:
        await self._runbooks.retry(id, _step(step))

    async def skip(self, id: str, step: str, reason: str) -> None:
        await self._runbooks.skip(id, _step(step), reason)

    # --- people --------------------------------------------------------------------------------------------------

    async def tasks(self, runbook: str = "") -> Sequence[TaskSeen]:
        if not runbook:
            mine = await self._perdure.tasks.list(mine=True)
            return [_task(await self._perdure.tasks.get(each.key)) for each in mine]
        run = await self.look(runbook)
        carriers = {step.carrier.instance for step in run.steps if step.carrier is not None} | {run.id}
        listed = [each for each in await self._perdure.tasks.list() if each.instance in carriers]
        found = [_task(await self._perdure.tasks.get(each.key), run) for each in listed]
        known = {task.key for task in found}
        verbs = self._perdure.catalogue
        waits = [
            _wait(each, verbs.find(each.verb) if each.verb else None)
            for each in run.steps
            if f"{run.id}:{each.number}" not in known
        ]
        return found + [each for each in waits if each is not None]

    async def claim(self, key: str) -> TaskSeen:
        return _task(await self._perdure.tasks.claim(key))

    async def answer(self, key: str, data: dict[str, Any], seen: str = "") -> None:
        """A person's task, or a wait that ends with a result."""
        if await self._is_task(key):
            await self._perdure.tasks.complete(key, data, until="rest", timeout_seconds=REST_SECONDS, seen=seen)
            return
        receipt = await self._perdure.complete(key, data)
        if receipt.answer not in ("applied", "duplicate"):
            fact = receipt.reason or f"it was {receipt.answer.replace('_', ' ')}"
            raise RejectedError(Rejection("wrong_state", "complete", "wait", key, fact))

    async def _is_task(self, key: str) -> bool:
        try:
            await self._perdure.tasks.get(key)
        except RejectedError:
            return False
        return True

    async def events(self, id: str) -> Rows:
        """The outcome events of a run; those of a runbook as a whole have no step."""
        run = await self.look(id)
        names = {step.number: step.name for step in run.steps}
        rows = [
            ((each.at or "")[:16].replace("T", " "), names.get(each.step, ""), each.text)
            async for each in self._perdure.outcome_events(id)
        ]
        return Rows("Events", ("when", "step", "event"), tuple(rows), "Nothing has happened yet.")

    async def incidents(self) -> Rows:
        found = (await self._perdure.listing.incidents(limit=MAX_LIMIT)).items
        rows = tuple((each.concerns or each.id, each.name, each.text) for each in found)
        return Rows("Incidents", ("id", "what", "why"), rows, "Nothing needs a person.")

    async def engines(self) -> Rows:
        rows = tuple(
            (each.name, each.url or "this store", "reachable" if each.reachable else f"away: {each.reason}",
             str(each.waiting_steps))
            for each in await self._perdure.engines()
        )  # fmt: skip
        return Rows("Engines", ("engine", "at", "answers", "steps wait"), rows)

    async def impact(self, file: str) -> Rows:
        """Every state in which instances are parked, and every text of a verb that nobody would serve."""
        return impact_rows(await self._perdure.deployments.check([file] if file else []))

    async def letters(self) -> Rows:
        found = (await self._perdure.listing.dead_letters(limit=MAX_LIMIT)).items
        rows = tuple((each.message_id, each.key, each.reason) for each in found)
        return Rows("Dead letters", ("message", "key", "why"), rows, "No dead letters.")

    # --- records -------------------------------------------------------------------------------------------------

    async def look_up(self, entity: str, text: str) -> Sequence[MatchView]:
        return await self._perdure.look_up(entity, text)


def _draft(document: Any) -> Draft:
    return convert(document, Draft)


def _planned(draft: Draft) -> str:
    """What a draft without a title is about."""
    if draft.entries:
        return draft.entries[0].sentence
    return draft.pack.id if draft.pack is not None else ""


def _step(word: str) -> str | int:
    return number_in(word) or word


def _task(view: TaskView, run: RunbookView | None = None) -> TaskSeen:
    """A task; that of a step of the run is called by the step's sentence."""
    is_step = run is not None and view.instance == run.id
    step = run.step(view.token) if run is not None and is_step else None
    is_gate = step is not None and step.waiting_for is not None and step.waiting_for.kind == "gate"
    sentence = step.sentence if step is not None else ""
    title = f"Agree to: {sentence}" if is_gate else sentence
    who = view.claimed_by or view.assignee or view.progress
    return TaskSeen(
        view.key, title or view.name, view.state, who, view.groups or view.users,
        (view.due_at or view.due or "")[:16].replace("T", " "), view.form or {}, run.id if run is not None else "",
        is_gate, known={**_asked(view), **view.known}, seen=view.seen, link=view.link,
    )  # fmt: skip


def _asked(view: TaskView) -> dict[str, Any]:
    """What an agent asks, to be told before the answer is."""
    if view.question is None:
        return {}
    data = view.question.data
    return {"question": view.question.text} | (
        data if isinstance(data, dict) else {} if data is None else {"data": data}
    )


def _wait(step: StepView, verb: Verb | None) -> TaskSeen | None:
    """What a step waits for that is nobody's task: a result under a key."""
    waiting = step.waiting_for
    if waiting is None or step.state != "parked" or waiting.kind != "completion":
        return None
    due = (waiting.due_at or "")[:16].replace("T", " ")
    form = dict(verb.definition.output_schema or {}) if verb is not None else {}
    is_decision = verb is not None and verb.execution.decision
    return TaskSeen(waiting.key, step.sentence, "waiting", "whoever has it", "", due, form, is_decision=is_decision)
