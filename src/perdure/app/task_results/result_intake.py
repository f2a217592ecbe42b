"""The intake of task results: whichever door one came by, it has the same outcome, and poison becomes a dead letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.lifecycles.lifecycles import LifecycleOperations
from perdure.app.lifecycles.views import TaskReceipt
from perdure.buses.delivery_outcome import Outcome, Taken, outcome_of
from perdure.errors import InvariantBroken, PerdureError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.ports import DEAD, Attachments, InboxRow, Unit
from perdure.lifecycles.instances import TASK_RESULT
from perdure.lifecycles.task_results import TaskResult, correlation_of, read_result, result_of
from perdure.payload import digest, parse
from perdure.verbs.verb_patterns import reaches
from perdure.work.dead_letter_limit import check_room
from perdure.work.keyed_lock import KeyedLock

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

EVERY_VERB = ("*",)
MAX_REASON = 300
MAX_KEPT = 64 * 1024
"""Of a body that is parked: a longer one is no task result."""


class Sender(msgspec.Struct, frozen=True):
    """On whose behalf results of a door are counted, and for which verbs."""

    door: str
    tenant: str = "default"
    principal: str = ""
    verbs: tuple[str, ...] = EVERY_VERB


class ResultIntake:
    """Takes results in, for every door of one process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._turns = KeyedLock()

    async def take(self, body: bytes | Mapping[str, Any], sender: Sender) -> Taken:
        """Count a result; returns once its commit is durable, and raises nothing that another try could mend."""
        try:
            result = read_result(body) if isinstance(body, bytes) else result_of(body)
            receipt = await self.count(result, sender)
        except InvariantBroken:
            raise
        except PerdureError as error:
            return self._told(sender, Taken(outcome_of(error), str(error)))
        return self._told(sender, Taken(outcome_of_answer(receipt.answer)))

    async def count(self, result: TaskResult, sender: Sender, desk: LifecycleOperations | None = None) -> TaskReceipt:
        """Count a result, one at a time for each instance; raises where it cannot be."""
        if desk is None:
            desk = LifecycleOperations(self._runtime, Origin(sender.tenant, sender.principal or sender.door))
        async with self._turns.at(result.correlation_id.partition(":")[0]):
            if sender.verbs != EVERY_VERB:
                await self._check_verb(desk, result, sender)
            return await desk.receive(result)

    async def _check_verb(self, desk: LifecycleOperations, result: TaskResult, sender: Sender) -> None:
        aggregate, _ = await desk.definition_of_task(result.correlation_id)
        task = aggregate.state.task(result.correlation_id)
        if task is not None and not reaches(sender.verbs, task.verb):
            fact = f"{sender.door} may not end tasks of '{task.verb}'"
            hint = "The patterns under `verbs` say whose tasks it may end."
            raise RejectedError(Rejection("forbidden", "complete", "task", result.correlation_id[:200], fact, hint))

    async def park(self, body: bytes, sender: Sender, place: str, reason: str) -> None:
        """Keep what cannot be counted among the dead letters, once, with its reason."""
        message_id = f"parked:{sender.door}:{digest(body).hex()}"
        store, now = self._runtime.store, self._runtime.sources.now()
        await check_room(store, sender.tenant, message_id)
        kept = {"door": sender.door, "principal": sender.principal, "verbs": sender.verbs, "place": place}
        letter = msgspec.json.encode({**kept, "result": body[:MAX_KEPT].decode("utf-8", "backslashreplace")})
        row = InboxRow(
            sender.tenant, message_id, TASK_RESULT, _named_task(body) or place[:500], now, DEAD, reason[:MAX_REASON],
            None, letter,
        )  # fmt: skip
        await store.commit(Unit(sender.tenant, None, attachments=[Attachments(inbox=row)]))
        if (metrics := self._runtime.metrics) is not None:
            metrics.task_result(sender.door, "parked")

    def _told(self, sender: Sender, taken: Taken) -> Taken:
        if (metrics := self._runtime.metrics) is not None:
            metrics.task_result(sender.door, taken.outcome)
        return taken


def _named_task(body: bytes) -> str:
    """The correlation id of what cannot be counted, by which erasure finds it; empty where none can be read."""
    try:
        fields = parse(body)
    except (PerdureError, ValueError, RecursionError):
        return ""
    return correlation_of(fields) if isinstance(fields, Mapping) else ""


async def replay(runtime: Runtime, origin: Origin, message_id: str) -> str:
    """Take a parked result in once more, on behalf of the door it came by; the letter is closed when it counted."""
    letter = await runtime.store.message(origin.tenant, message_id)
    if letter is None or letter.body is None or letter.status != DEAD:
        raise RejectedError(Rejection("not_found", "replay", "dead letter", message_id[:200], "there is none"))
    kept = msgspec.json.decode(letter.body)
    sender = Sender(kept["door"], origin.tenant, kept["principal"], tuple(kept["verbs"]))
    receipt = await runtime.results.count(read_result(kept["result"].encode()), sender)
    await runtime.store.discard_message(origin.tenant, message_id, f"taken in again by {origin.principal}")
    return receipt.answer


def outcome_of_answer(answer: str) -> Outcome:
    """The outcome that the answer of a lifecycle stands for."""
    return "known" if answer == "known" else "over" if answer == "over" else "counted"
