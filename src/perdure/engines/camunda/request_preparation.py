"""Request preparation: the keys and the payload that the requests of a decision need."""

from __future__ import annotations

from typing import Any

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import ROOT, Job, Node
from perdure.engines.camunda.definition_deployment import DefinitionDeployment
from perdure.engines.camunda.engine_requests import Keys, Payload, requests_for
from perdure.engines.camunda.instance_turns import LOOK, RACE_SECONDS, InstanceTurns
from perdure.engines.camunda.key_rows import Frame, KeyRows
from perdure.engines.camunda.wire import Request
from perdure.errors import EngineUnavailableError
from perdure.journal import Decision
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import Attachments
from perdure.payload import apply_delta, delta_of, digest_text
from perdure.processes.instance_reader import InstanceReader
from perdure.sources import SECOND, Id, Sources, id_text


class RequestPreparation:
    """One per process."""

    def __init__(
        self, reader: InstanceReader, keys: KeyRows, deployment: DefinitionDeployment, turns: InstanceTurns,
        sources: Sources,
    ) -> None:  # fmt: skip
        self._reader = reader
        self._rows = keys
        self._deployment = deployment
        self._turns = turns
        self._sources = sources

    async def of(
        self, current: Aggregate, command: Any, decision: Decision, brought: Attachments | None
    ) -> tuple[Request, ...]:
        """The requests of a decision; none for one that changes nothing."""
        if not decision.entries or not decision.keeps:
            return ()
        heads = [each.head for each in decision.entries if isinstance(each, e.JobCompleted | e.HeadChanged)]
        payload = self.payload(current.id, heads[-1], brought) if heads and heads[-1] else None
        return requests_for(command, current.state, decision.entries, await self._keys(current, command), payload)

    def payload(self, id: Id, head: bytes, brought: Attachments | None) -> Payload | None:
        """The text of a head: from what the command brings, whole or as a change of one before it."""
        stored = dict(brought.payloads).get(head) if brought is not None else None
        if stored is None:
            return None
        change = delta_of(stored)
        if change is not None:
            stored = apply_delta(self._reader.payloads.held(id, change.base), change)[0][1]
        return Payload(stored.decode("utf-8", "surrogateescape"), digest_text(head))

    async def _keys(self, current: Aggregate, command: Any) -> Keys:
        id, state = current.id, current.state
        keys = Keys(instance=await self._rows.key_of(id))
        if isinstance(command, c.Migrate):
            key = await self._deployment.key(state.process, command.definition, current.tenant)
            return keys._replace(definition=key)
        node: Node | None = state.nodes.get(getattr(command, "node", 0))
        if node is None:
            return keys
        letters, job = id_text(id), node.job
        keys = keys._replace(job=await self._rows.job_of(Frame(id, node.number, job.run if job is not None else 0)))
        if job is not None:
            keys = keys._replace(retries=await self._retries(current, node, job))
        if node.kind == "task" and not keys.job:
            task = await self._task_key(current, node)
            keys = keys._replace(task=task, job="" if task else await self._rows.job_of(Frame(id, node.number, 0)))
        if isinstance(command, c.RetryIncident | c.ResolveIncident) and node.incident is not None:
            place = f"incident/{letters}/{node.number}/{node.incident.opened_at}"
            is_theirs = bool(keys.job) or _is_stuck_there(node)
            found = await (self._awaited(current, "incident", place) if is_theirs else self._rows.read(place))
            keys = keys._replace(incident=found)
        return keys

    async def _retries(self, current: Aggregate, node: Node, job: Job) -> int:
        plan = (await self._reader.loaded(current)).plan
        policy = plan.policy(plan.type_of(node.element, job), node.element)
        return max(1, policy.max_attempts - (job.attempt - job.before))

    async def _task_key(self, current: Aggregate, node: Node) -> str:
        """The key of a user task; of one that our journal holds, that of its job is awaited."""
        frame = f"frame/{Frame(current.id, node.number, 0).text}"
        found = await self._awaited(current, "user task", f"task/{id_text(current.id)}/{node.number}", frame)
        return "" if await self._rows.read(frame) else found

    async def _awaited(self, current: Aggregate, what: str, *names: str) -> str:
        """A key that Camunda tells of a moment after its token has come there."""
        until = self._sources.monotonic() + int(RACE_SECONDS * SECOND)
        while True:
            for name in names:
                if found := await self._rows.read(name):
                    return found
            if self._sources.monotonic() >= until:
                fact = f"the key of its {what} is not known: Camunda has not told it"
                hint = "Look at `tail` in the engine's url, and at the exporter of the broker."
                raise EngineUnavailableError("ask", "instance", id_text(current.id), fact, hint)
            await self._turns.away(current.id, LOOK)


def _is_stuck_there(node: Node) -> bool:
    """Whether Camunda has an incident at the same place: it finds no way out, or no count, as we do.

    One that was raised here before a job came, at compensation, or for the whole instance is none of Camunda's.
    """
    return node.job is None and node.undo is None and node.number != ROOT
