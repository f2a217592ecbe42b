"""Fact delivery: what Camunda's log tells of instances is kept, and appended to their journals in its order.

| fact | when it is news here | otherwise |
|---|---|---|
| a timer fired | `FireTimer`, by Camunda's clock | its watch is gone: nothing |
| a user task has a key | the key is kept | |
| a user task was assigned, or completed | claimed; completed by whoever did, without data | it was done from here |
| a user task is not wanted any more | nothing: what is told of it before is waited with no longer | |
| an incident was created | its key is kept; raised here when only Camunda knows of it | |
| an incident was resolved | retried here | it was resolved from here |
| the process was terminated | cancelled | it was cancelled from here |
| the process completed | nothing: what led there was told before | |

A fact that nothing here explains is waited with: what precedes it may be on its way. What comes after it waits as well,
unless it is only about whose a task is: of a task that was left here before Camunda told its key, nothing comes any
more, and a timer that fires then is not kept waiting. After the deadline a fact is set aside, and where the instance
cannot go on without it an incident says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import Any, assert_never

import msgspec

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.state import ENDED, ROOT, Instance, Node
from perdure.engines.camunda.carried_commands import CarriedCommands
from perdure.engines.camunda.exported_records import Fact, Place, facts_of, read_bulk
from perdure.engines.camunda.instance_turns import LOOK
from perdure.engines.camunda.key_rows import PLATFORM, KeyRows
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import EMBEDDED
from perdure.errors import EngineUnavailableError, PerdureError, RejectedError
from perdure.human_tasks import ADMINISTRATORS, Person
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.kernel.ports import PENDING, Attachments, InboxRow, Unit
from perdure.sources import SECOND, Id, Sources, id_text

FACT = "camunda_fact"
"""The kind of the inbox rows."""
DEADLINE_SECONDS = 30.0
TASKLIST = "camunda-tasklist"
LASTING = frozenset({"timer", "task_done", "incident", "terminated", "completed"})
"""Facts without which an instance here stands where it stands no longer in Camunda."""
PASSED = frozenset({"task", "assigned"})
"""Facts that others do not wait for."""
log = logging.getLogger("perdure")

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Fact).decode


class FactDelivery:
    """One per process; the facts of an instance are appended in turn."""

    def __init__(
        self, commands: CarriedCommands, keys: KeyRows, kernel: Kernel, store: EngineStore, tenant: str,
        sources: Sources, waits: Sources,
    ) -> None:  # fmt: skip
        self._commands = commands
        self._keys = keys
        self._kernel = kernel
        self._store = store
        self._tenant = tenant
        self._sources = sources
        self._waits = waits
        self.place = Place()
        self._queues: dict[str, list[Fact]] = defaultdict(list)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    # --- keeping -------------------------------------------------------------------------------------------------

    async def keep(self, body: bytes) -> None:
        """Keep the facts of a bulk request durably, then begin to append them."""
        records = read_bulk(body)
        facts = [fact for fact in facts_of(records, self.place) if await self._is_open(fact)]
        for record in records:
            self.place.reach(int(record.get("partitionId") or 0), int(record.get("position") or 0))
        for fact in facts:
            self._enqueue(fact)

    async def _is_open(self, fact: Fact) -> bool:
        """Keep a fact under its place in the log; False when it was kept, and dealt with, before."""
        now, name = self._sources.now(), self._keys.name(f"told/{fact.name}")
        row = InboxRow(PLATFORM, name, FACT, fact.instance, now, PENDING, "", None, _encode(fact))
        if await self._store.commit(Unit(PLATFORM, None, attachments=[Attachments(inbox=row)], at=now)) is None:
            return True
        known = await self._store.message(PLATFORM, name)
        return known is not None and known.status == PENDING

    async def deliver(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Go on with a fact that a process left behind."""
        message = await self._store.message(tenant, message_id)
        if message is None or message.status != PENDING or message.body is None:
            return True
        fact = _decode(message.body)
        if fact.instance in self._tasks:
            return False
        self._enqueue(fact)
        return False

    def _enqueue(self, fact: Fact) -> None:
        queue = self._queues[fact.instance]
        if fact not in queue:
            queue.append(fact)
            queue.sort(key=lambda each: each.position)
        if fact.instance not in self._tasks:
            self._tasks[fact.instance] = asyncio.create_task(self._append_all(fact.instance))

    async def close(self) -> None:
        for each in self._tasks.values():
            each.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def drain(self) -> None:
        """Wait until every fact that was heard is appended."""
        while self._tasks:
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # --- appending -----------------------------------------------------------------------------------------------

    async def _append_all(self, instance: str) -> None:
        queue, untils = self._queues[instance], dict[str, int]()
        try:
            while queue:
                if not await self._append_some(queue, untils):
                    await self._waits.sleep(LOOK)
        except PerdureError as error:
            log.warning("%s", error)  # the store is out of reach: upkeep brings it again
        except Exception:
            log.exception("What Camunda told of process instance %s cannot be appended", instance)
        finally:
            self._tasks.pop(instance, None)
            if not queue:
                self._queues.pop(instance, None)

    async def _append_some(self, queue: list[Fact], untils: dict[str, int]) -> bool:
        """Append what is explained, in its order, until something has to be waited with; False for nothing at all."""
        is_moved = False
        for fact in tuple(queue):
            until = untils.setdefault(fact.name, self._waits.monotonic() + int(DEADLINE_SECONDS * SECOND))
            if _is_past(fact, queue) or await self._append(fact, until):
                settles = Attachments(settles=(PLATFORM, self._keys.name(f"told/{fact.name}")))
                await self._store.commit(Unit(PLATFORM, None, attachments=[settles], at=self._sources.now()))
                queue.remove(fact)
                is_moved = True
            elif fact.kind not in PASSED:
                break
        return is_moved

    async def _append(self, fact: Fact, until: int) -> bool:
        """Append a fact, or set it aside; False while what it is about is not there yet."""
        try:
            if await self._tried(fact):
                return True
            if self._waits.monotonic() < until:
                return False
            await self._give_up(fact)
        except EngineUnavailableError:
            return False
        except RejectedError as error:
            log.warning("What Camunda told of process instance %s does not fit: %s", fact.instance, error)
            await self._give_up(fact)
        return True

    async def _tried(self, fact: Fact) -> bool:
        """Append a fact; False while what it is about is not there yet."""
        id = await self._keys.instance_of(fact.instance)
        if id is None:
            return False  # its start is about to be bound; one that is none of ours is set aside after the deadline
        origin = Origin(self._tenant, PLATFORM)
        async with self._commands.turn(id):
            try:
                current = await self._kernel.read(id, origin)
            except RejectedError:
                return False
            if current.state.status in ENDED or await self._commands.is_told(fact, self._tenant):
                return True
            is_here = current.state.carrier == EMBEDDED and fact.kind == "task_done"
            is_moved = current.state.carrier not in ("", self._keys.engine)  # perhaps by another process
            if not is_here and (is_moved or await self._commands.is_foreign(id)):
                return True  # begun elsewhere, or moved: who completed a task before counts where our kernel goes on
            return await self._told(current, fact, origin)

    async def _told(self, current: Aggregate, fact: Fact, origin: Origin) -> bool:
        state: Instance = current.state
        match fact.kind:
            case "timer":
                return await self._timer(current, fact, origin)
            case "task":
                return await self._task(current, fact)
            case "assigned" | "task_done":
                return await self._acted(current, fact, origin)
            case "incident":
                return await self._incident(current, fact, origin)
            case "resolved":
                node = await self._incident_node(current, fact)
                if node is not None and node.incident is not None:
                    await self._commands.fact(current.id, origin, c.RetryIncident(node=node.number, reason=_IN), fact)
                return True
            case "terminated":
                if await self._is_dispatched(current):
                    return False
                command = c.Cancel(reason="cancelled in Camunda", follows=True)
                await self._commands.fact(current.id, origin, command, fact)
                return True
            case "completed":
                return state.status in ENDED
            case "task_gone":
                return True
            case _:
                assert_never(fact.kind)

    async def _is_dispatched(self, current: Aggregate) -> bool:
        """Whether something is asked of Camunda just now that the fact may come from."""
        return await self._commands.has_open(current.id, Origin(current.tenant))

    async def _timer(self, current: Aggregate, fact: Fact, origin: Origin) -> bool:
        watches = sorted(current.state.watches.values(), key=lambda each: (each.due, each.number))
        names = _names_since(current.state, fact.element)
        found = [each for each in watches if each.kind == "timer" and each.event in names and not each.has_come]
        if not found:
            return False
        command = c.FireTimer(number=found[0].number, kind="watch", due=found[0].due)
        await self._commands.fact(current.id, origin, command, fact)
        return True

    async def _task(self, current: Aggregate, fact: Fact) -> bool:
        letters, names = id_text(current.id), _names_since(current.state, fact.element)
        for node in sorted(current.state.nodes.values(), key=lambda each: each.number):
            if node.kind == "task" and node.element in names:
                name = f"task/{letters}/{node.number}"
                known = await self._keys.read(name)
                if known == fact.key:
                    return True
                if not known:
                    await self._keys.write((name, fact.key), (f"user-task/{fact.key}", f"{letters}/{node.number}"))
                    return True
        return False

    async def _acted(self, current: Aggregate, fact: Fact, origin: Origin) -> bool:
        """Somebody acted in Tasklist, unless it was us: then the task is as it says already."""
        place = await self._keys.read(f"user-task/{fact.key}")
        node = current.state.nodes.get(int(place.rpartition("/")[2])) if place else None
        if not place or await self._is_dispatched(current):
            return False
        if node is None or node.task is None or node.kind != "task":
            return True
        who = Person(fact.who or TASKLIST, (ADMINISTRATORS,), "in Camunda's Tasklist")  # Camunda let them
        command: Any = c.CompleteTask(node=node.number, who=who)
        if fact.kind == "assigned":
            holder = node.task.claimed_by or node.task.assignee
            if holder == fact.who:
                return True
            command = c.ReassignTask(node=node.number, who=who, to=fact.who) if fact.who else None
        if command is not None:
            await self._commands.fact(current.id, origin, command, fact)
        return True

    async def _incident_node(self, current: Aggregate, fact: Fact) -> Node | None:
        """The token that an incident is of: by its job, else the one at the element."""
        frame = await self._keys.frame_of(fact.job) if fact.job else None
        nodes: dict[int, Node] = current.state.nodes
        if frame is not None:
            return nodes.get(frame.node)
        found = [node for node in nodes.values() if node.element == fact.element]
        return found[0] if len(found) == 1 else None

    async def _incident(self, current: Aggregate, fact: Fact, origin: Origin) -> bool:
        if await self._is_dispatched(current):
            return False
        node = await self._incident_node(current, fact)
        if node is None:
            return bool(fact.job) and await self._keys.frame_of(fact.job) is not None  # its frame is over
        if node.incident is None:
            words = f"Camunda has an incident at '{fact.element}': {fact.words}"
            command = c.RaiseIncident(node=node.number, code="camunda.incident", text=words)
            answer = await self._commands.fact(current.id, origin, command, fact)
            state = answer.aggregate.state if answer.aggregate is not None else current.state
            node = state.nodes.get(node.number)
        if node is not None and node.incident is not None:
            name = f"incident/{id_text(current.id)}/{node.number}/{node.incident.opened_at}"
            await self._keys.write((name, fact.key))
        return True

    async def _give_up(self, fact: Fact) -> None:
        """Nothing here explains a fact: where the instance cannot go on like this, a person is told."""
        id = await self._keys.instance_of(fact.instance)
        if id is None or fact.kind not in LASTING:
            log.info("What Camunda told of process instance %s is set aside: %s", fact.instance, fact.kind)
            return
        words = (
            f"Camunda's process instance {fact.instance} and this journal differ: there '{fact.kind}' of "
            f"'{fact.element}' at position {fact.name}. Compare them in Operate, then cancel or resolve by hand."
        )
        origin = Origin(self._tenant, PLATFORM)
        async with self._commands.turn(id):
            current = await self._kernel.read(id, origin)
            if current.state.status not in ENDED:
                command = c.RaiseIncident(node=ROOT, code="camunda.differs", text=words)
                await self._commands.fact(id, origin, command, fact)


_IN = "resolved in Camunda"


def _is_past(fact: Fact, queue: list[Fact]) -> bool:
    """Whether a fact is about a task that is not wanted any more."""
    return fact.kind in PASSED and any(each.kind == "task_gone" and each.key == fact.key for each in queue)


def _names_since(state: Instance, element: str) -> set[str]:
    """An element by its name and by those that migrations have given it: a fact may be older than one."""
    names = {element}
    for _, _, mapping in state.past:
        names |= {mapping[each] for each in names if each in mapping}
    return names
