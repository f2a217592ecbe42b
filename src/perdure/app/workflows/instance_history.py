"""History of an instance: its variables with every version, and its executions, read from its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from perdure.agent_usage import cost_of, money
from perdure.app.workflows.views import ExecutionView, VariableView
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.errors import PerdureError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.processes.payload_merge import difference
from perdure.sources import Micros, id_text, iso

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime
    from perdure.processes.plan_cache import Definition

Data = dict[str, Any]
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", dict: "object"}


class InstanceStory:
    """Reads one instance's journal once, from its first record to its last."""

    def __init__(self, runtime: Runtime, aggregate: Aggregate, definition: Definition) -> None:
        self._runtime, self._aggregate, self._definition = runtime, aggregate, definition
        self.variables: dict[str, list[VariableView]] = {}
        self.executions: list[ExecutionView] = []
        self._data: Data = {}
        self._elements: dict[int, str] = {}
        self._jobs: dict[int, e.JobMade] = {}
        self._open: dict[int, int] = {}
        self._began: dict[int, Micros] = {}

    async def read(self, origin: Origin) -> InstanceStory:
        for told in await self._runtime.instances.history(self._aggregate.id, origin):
            for entry in told.entries:
                await self._take(entry, told)
        return self

    async def _take(self, entry: Any, told: Any) -> None:  # noqa: PLR0912  one case for each entry
        match entry:
            case e.InstanceStarted():
                await self._changed(entry.head, entry.principal, entry.at)
            case e.Entered():
                self._elements[entry.number] = entry.element
            case e.JobMade():
                self._jobs[entry.number] = entry
            case e.JobStarted() if not self._is_answer(entry.number):
                self._begin(entry.number, self._about(entry.number)[0], entry.attempt, entry.at)
            case e.JobCompleted():
                await self._completed(entry)
            case e.JobFailed():
                self._end(entry.number, "failed", entry.at, error=f"{entry.failure.code}: {entry.failure.message}")
            case e.JobAsked():
                self._end(entry.number, "asked", entry.at)
            case e.JobHeld():
                self._end(entry.number, "held", entry.at, error=f"{entry.code}: {entry.text}")
            case e.AgentUsed():
                self._used(entry)
            case e.TaskOpened():
                self._begin(entry.number, "user_task", 1, told.at)
            case e.TaskCompleted():
                self._end(entry.number, "completed", entry.at, actor=entry.by)
            case e.HeadChanged():
                await self._changed(entry.head, entry.by, told.at)
            case e.Thrown(kind="call"):
                self._call(entry, told.at)
            case e.Left():
                self._left(entry, told.at)
            case _:
                pass

    # --- executions ----------------------------------------------------------------------------------------------

    def _begin(self, number: int, kind: str, attempt: int, at: Micros) -> None:
        element = self._elements.get(number, "")
        actor = "" if kind == "user_task" else self._about(number)[1]
        given = self._inputs(element)
        self._open[number], self._began[number] = len(self.executions), at
        self.executions.append(
            ExecutionView(element, kind, actor, attempt, "active", iso(at), input=given)
        )  # fmt: skip

    def _left(self, entry: e.Left, at: Micros) -> None:
        if entry.how in ("cancelled", "interrupted", "moved"):
            self._end(entry.number, "cancelled", at)
        elif entry.how == "completed" and self._is_call(entry.number):
            self._end(entry.number, "completed", at)

    def _call(self, entry: e.Thrown, at: Micros) -> None:
        """A called workflow is an execution that lasts as long as its instance."""
        self._begin(entry.number, "call_activity", 1, at)
        called = child_id(self._aggregate.tenant, f"node:{id_text(self._aggregate.id)}:{entry.number}")
        self.executions[-1] = replace(self.executions[-1], actor=entry.name, called=id_text(called))

    def _is_call(self, number: int) -> bool:
        place = self._open.get(number)
        return place is not None and self.executions[place].kind == "call_activity"

    def _end(self, number: int, state: str, at: Micros, **more: Any) -> None:
        place = self._open.get(number)
        if place is None or self.executions[place].ended_at is not None:
            return
        taken = (at - self._began[number]) / 1000
        self.executions[place] = replace(
            self.executions[place], state=state, ended_at=iso(at), duration_ms=taken, **more
        )  # fmt: skip

    async def _completed(self, entry: e.JobCompleted) -> None:
        is_answer, place = self._is_answer(entry.number), self._open.get(entry.number)
        if not is_answer and (place is None or self.executions[place].ended_at is not None):
            self._begin(entry.number, self._about(entry.number)[0], 1, entry.at)
        by = self._jobs[entry.number].by if entry.number in self._jobs else ""
        actor = by if is_answer and by else self._about(entry.number)[1] or entry.verb
        before = self._data
        await self._changed(entry.head, actor, entry.at)
        output = difference(before, self._data)
        if is_answer:
            place = self._open[entry.number]
            self.executions[place] = replace(self.executions[place], output=output)
        self._end(entry.number, "completed", entry.at, output=output)

    def _is_answer(self, number: int) -> bool:
        """Whether a job takes in what a person answered: it is part of the task that they had."""
        made, place = self._jobs.get(number), self._open.get(number)
        is_intake = made is not None and made.purpose == "intake"
        return is_intake and place is not None and self.executions[place].kind == "user_task"

    def _used(self, entry: e.AgentUsed) -> None:
        place = self._open.get(entry.number)
        if place is None:
            return
        cost = cost_of(entry.uses)
        tokens = sum(use.tokens for use in entry.uses)
        told = money(cost) if cost is not None else None
        self.executions[place] = replace(self.executions[place], cost=told, tokens=tokens)

    def _about(self, number: int) -> tuple[str, str]:
        """The kind of a task, and the name of the code that does it: as the model has them, whoever looks."""
        node = self._definition.elements.get(self._elements.get(number, ""))
        own = node.properties if node is not None else {}
        host = self._definition.elements.get(own.get("workflow:of", ""))
        theirs = host.properties if host is not None else {}
        for kind, properties, name in (
            ("service_task", own, "workflow:agent"), ("script_task", own, "workflow:script"),
            ("compensation", theirs, "workflow:compensation"), ("timeout", theirs, "workflow:on_timeout"),
        ):  # fmt: skip
            if name in properties:
                return kind, properties[name].rpartition(":")[2]
        if host is not None:
            return "gateway", host.id
        made = self._jobs.get(number)
        kinds = {"undo": "compensation", "intake": "message"}
        return kinds.get(made.purpose if made is not None else "", "service_task"), ""

    def _inputs(self, element: str) -> Data:
        node = self._definition.elements.get(element)
        names = node.properties.get("workflow:inputs", "") if node is not None else ""
        wanted = {name.strip() for name in names.split(",") if name.strip()}
        return {name: value for name, value in self._data.items() if name in wanted}

    # --- variables -----------------------------------------------------------------------------------------------

    async def _changed(self, head: bytes, by: str, at: Micros) -> None:
        if not head:
            return
        try:
            data = (await self._runtime.instances.payloads.open(self._aggregate.id, head)).data
        except PerdureError:
            return  # erased or damaged: what it held cannot be told
        after: Data = data if isinstance(data, dict) else {}
        for name, value in after.items():
            if name not in self._data or self._data[name] != value or type(self._data[name]) is not type(value):
                self._written(name, value, by, iso(at))
        self._data = after

    def _written(self, name: str, value: Any, by: str, at: str | None) -> None:
        versions = self.variables.setdefault(name, [])
        first = versions[0] if versions else None
        versions.append(
            VariableView(
                name, value, TYPES.get(type(value), "any"), len(versions) + 1,
                first.created_at if first is not None else at, first.created_by if first is not None else by, at, by,
                owner=id_text(self._aggregate.id),
            )
        )  # fmt: skip
