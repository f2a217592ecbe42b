"""Failed correlations: the steps that a message concerns record that it was not correlated.

| the message | concerns |
|---|---|
| several instances wait for it | those instances, the longest waiting first, at most so many |
| its key is the id of a step | that step |
| its key is the id of a call or a runbook | its steps that processes carry now, else those under way, else the last |
| its key is the business key of instances | those instances, the newest first, at most so many |
| anything else | nobody here: the dead letter alone tells |

Told before the dead letter is written, and once for each message and instance: a crash in between leaves a message that
was never answered for, and sending it again completes both.
"""

from __future__ import annotations

import re

from perdure.bpmn.machine.aggregate_ids import INDEX
from perdure.bpmn.machine.commands import NoteFailedCorrelation as OfInstance
from perdure.engine import MESSAGE
from perdure.engine.messages import NOTICE
from perdure.engines.embedded.messages.delivery import Ask
from perdure.engines.embedded.messages.envelope import MessageEnvelope
from perdure.engines.embedded.ports import EngineStore
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Kernel, Prepared
from perdure.kernel.ports import APPLIED, Attachments, InboxRow
from perdure.runbooks.executor.call_executor import KIND
from perdure.runbooks.machine.commands import NoteFailedCorrelation as OfStep
from perdure.runbooks.machine.state import Runbook
from perdure.sources import Id, Sources, id_text, parse_id

MOST_TOLD = 20
"""Steps that one message is told to: many may wait under one key."""
TOLD = "failed_correlation"
STEP = re.compile("[1-9][0-9]{0,8}")
UNDER_WAY = ("running", "parked")


class FailedCorrelations:
    """Tells each step that is concerned, once."""

    def __init__(self, kernel: Kernel, store: EngineStore, sources: Sources, ask: Ask) -> None:
        self._kernel = kernel
        self._ask = ask
        self._store = store
        self._sources = sources

    async def tell(self, tenant: str, letter: MessageEnvelope, outcome: str, reason: str) -> None:
        """Record on every step that a message concerns that it was not correlated, and why."""
        if outcome == "ambiguous":
            waits = await self._store.find_waits(tenant, MESSAGE, letter.name, letter.correlation_key, most=200)
            for id in list(dict.fromkeys(each.aggregate for each in waits))[:MOST_TOLD]:
                await self._tell_instance(tenant, id, letter, outcome, reason)
        elif not await self._told_step(tenant, letter, outcome, reason) and letter.correlation_key:
            key = letter.correlation_key[:256]
            for found in await self._store.indexed(tenant, INDEX, "business_key", key, most=MOST_TOLD):
                await self._tell_instance(tenant, found.id, letter, outcome, reason)

    async def _told_step(self, tenant: str, letter: MessageEnvelope, outcome: str, reason: str) -> bool:
        """Whether the key names a call or a step, which is then told."""
        call, _, number = letter.correlation_key.partition(":")
        if number and not STEP.fullmatch(number):
            return False
        try:
            aggregate = await self._kernel.read(parse_id(call), Origin(tenant))
        except (RejectedError, QuarantinedError):
            return False
        if aggregate.kind != KIND:
            return False
        steps = _concerned(aggregate.state, number)
        for step in steps:
            note = OfStep(step, letter.name, letter.correlation_key, letter.message_id, outcome, reason)
            once = self._once(tenant, f"{id_text(aggregate.id)}:{step}", aggregate.id, letter, note)
            try:
                await self._kernel.ask(KIND, aggregate.id, letter.origin(tenant), once)
            except (RejectedError, QuarantinedError):
                return False  # the dead letter tells it still
        return bool(steps)

    async def _tell_instance(
        self, tenant: str, id: Id, letter: MessageEnvelope, outcome: str, reason: str
    ) -> None:  # fmt: skip
        note = OfInstance(
            name=letter.name, key=letter.correlation_key, message_id=letter.message_id, outcome=outcome, why=reason
        )  # fmt: skip
        try:
            once = self._once(tenant, id_text(id), id, letter, note)
            await self._ask(id, letter.origin(tenant), once)
        except (RejectedError, QuarantinedError):
            return  # a damaged instance keeps no other from being told

    def _once(
        self, tenant: str, place: str, id: Id, letter: MessageEnvelope, note: OfStep | OfInstance
    ) -> Prepared:  # fmt: skip
        row = InboxRow(
            tenant, f"{NOTICE}failed/{letter.message_id}/{place}", TOLD, letter.correlation_key,
            self._sources.now(), APPLIED, "told", id, None, letter.name,
        )  # fmt: skip
        return Prepared(note, Attachments(inbox=row))


def _concerned(state: Runbook, number: str) -> list[int]:
    """The steps that a key means: the one it numbers, or those of the call that may have waited for the message."""
    if number:
        return [int(number)] if int(number) <= len(state.steps) else []
    under_way = [each for each, step in enumerate(state.steps, 1) if step.status in UNDER_WAY]
    carried = [each for each, step in enumerate(state.steps, 1) if step.carrier is not None]
    both = [each for each in carried if state.steps[each - 1].status in UNDER_WAY]
    return (both or under_way or carried[-1:] or [1][: len(state.steps)])[:MOST_TOLD]
