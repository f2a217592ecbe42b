"""Wait permissions: the verbs that a key must reach before its holder ends a wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app.lists.list_rows import DeadLetterItem, dead_letter
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import DEAD
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.runbooks.executor.completion_inbox import own_tokens
from perdure.runbooks.executor.wait_names import read_name
from perdure.runbooks.machine.human_tasks import waiting_task
from perdure.runbooks.machine.state import WAITING
from perdure.runbooks.ports import DeadLetter
from perdure.sources import ID_LENGTH, Id, parse_id

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure


class WaitPermissions:
    """Of one tenant. Reached as `perdure.waits`."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin

    async def name_under(self, key: str) -> str:
        """The name of what waits under a key now: what waits there later has another. Empty for a human task of a
        process, whose key is never used again."""
        return "" if await self.is_task(key) else await self._runtime.intake.name(key, self._origin)

    async def is_task(self, key: str) -> bool:
        """Whether a key is that of a human task of a process, open or ended."""
        letters, _, number = key.partition(":")
        if len(letters) != ID_LENGTH or not number.isdigit():
            return False
        try:
            return (await self._runtime.kernel.recall(parse_id(letters), self._origin)).kind == INSTANCE
        except RejectedError:
            return False

    async def is_proposed(self, key: str, wait: str = "") -> bool:
        """Whether a person is to decide there upon what an agent proposes; such a wait has no key but its own."""
        aggregate = await self._named(key)
        if aggregate is None or aggregate.kind != RUNBOOK:
            return False
        tokens = own_tokens(aggregate, key)
        if wait:
            places = {(each.step, each.token) for each in read_name(wait).places}
            tokens = [each for each in tokens if (each.step, each.token) in places and each.status == WAITING]
        steps = [aggregate.state.steps[each.step - 1] for each in tokens]
        return any(step.proposal and waiting_task(step) is not None for step in steps)

    async def _named(self, key: str) -> Aggregate | None:
        """The call, runbook or instance whose own id a key begins with."""
        letters = key.partition(":")[0]
        if len(letters) != ID_LENGTH:
            return None
        try:
            return await self._read(parse_id(letters))
        except RejectedError:
            return None

    async def _read(self, id: Id) -> Aggregate | None:
        try:
            return await self._runtime.kernel.read(id, self._origin)
        except (QuarantinedError, RejectedError):
            return None


async def letter_of(runtime: Runtime, origin: Origin, message_id: str) -> DeadLetterItem:
    """A dead letter; one that was dealt with, or never was one, is not found."""
    check_key("find", "dead letter", message_id)
    letter = await runtime.store.message(origin.tenant, message_id)
    if letter is None or letter.status != DEAD:
        raise RejectedError(Rejection("not_found", "find", "dead letter", message_id[:200], "there is none"))
    return dead_letter(DeadLetter(*letter[:4], letter.answer, letter.body))


async def check_reach(perdure: Perdure, principal: Principal, operation: str, key: str, verb: str = "") -> None:
    """Refuse whose key does not reach every verb that the data of what waits under it come from."""
    check_key("wait under", "key", key)
    if principal.reaches_every_verb:
        return
    verbs = await perdure.data_verbs.under_key(key, verb)
    for each in verbs:
        check(principal, operation, verb=each)
    if verbs:
        return
    # What comes too early is kept and applied when its wait begins: then it must have been for a verb they reach.
    if not verb:
        fact, hint = "nothing waits under it yet and your key does not reach every verb", "Name the verb it is for."
        raise RejectedError(Rejection("forbidden", "complete", "key", key, fact, hint))
    check(principal, operation, verb=verb)
