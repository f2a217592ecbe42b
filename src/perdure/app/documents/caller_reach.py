"""The reach of whoever stands behind a call: a handler reads of documents what its caller may read by operation, and
a verb of the platform ends nothing that its caller's key does not reach.

| the caller behind the call | is judged by |
|---|---|
| came with a key to a call, a runbook or an instance | the grant of that key, also after it ended |
| added steps to a running runbook | the grant of their key, besides that of who started it |
| is known by name alone, as of a message that began an instance | the grants of their keys; one that may is enough |
| has no key: the owner of the store, the platform, an identity provider's | no grant |
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from perdure.access.principal import Principal
from perdure.access.roles import refusal
from perdure.access.verb_reach import may_read
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.errors import BusinessError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.runbooks.machine.journal_entries import CallStarted, RunbookStarted, StepsAdded
from perdure.sources import parse_id
from perdure.verbs import Call
from perdure.verbs.references import UnresolvableError, Wanted

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

OPERATION, VERB = "document.content", "document.find"
STARTS = (CallStarted, RunbookStarted)
DEEPEST = 100
"""How many instances that call one another are gone up."""


class CallerReach:
    """Judges what the caller behind a call may read and end."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def check(self, wanted: Wanted) -> None:
        """Nothing when they may; else UnresolvableError with what they lack."""
        grants = [each async for each in self._granted(wanted)]
        named = [] if grants else await self._runtime.keys.granted_to(wanted.tenant, wanted.principal)
        refused = [no for each in grants or named if (no := refusal(each, OPERATION, VERB)) is not None]
        if len(refused) < len(named):
            return  # another key of theirs may
        if refused:
            told, hint = refused[0].fact, "Let somebody call it who may read the content of documents."
            raise UnresolvableError("resolve", "reference", wanted.uri[:200], told, hint)

    async def check_answer(self, call: Call, correlation_id: str) -> None:
        """Nothing when the key behind a call reaches every verb of the request that it would end, or there is none."""
        from perdure.app.access.data_verbs import DataVerbs  # noqa: PLC0415  it needs the runtime, which needs us

        if not correlation_id:
            return
        origin, wanted = Origin(call.tenant, call.principal), Wanted("", call.tenant, call.principal, call.verb)
        try:
            holder = await self._runtime.kernel.read(parse_id(correlation_id.partition(":")[0]), origin)
        except RejectedError:
            return  # somebody else's correlation id: it ends nothing here
        named, wanted = await DataVerbs(self._runtime, origin).of(holder), replace(wanted, call=call.call_id)
        grants = [each async for each in self._granted(wanted)]
        known = [] if grants else await self._runtime.keys.granted_to(call.tenant, call.principal)
        beyond = [each for each in grants or known if not may_read(each.verbs, named)]
        if beyond and len(beyond) >= len(known):
            lacks = next((each for each in named if not may_read(beyond[0].verbs, [each])), "")
            fact = f"the key of '{call.principal}' does not reach '{lacks}', whose request that is"
            raise BusinessError("forbidden", f"Expected to answer a request by '{call.verb}', but {fact}.")

    async def _granted(self, wanted: Wanted) -> AsyncIterator[Principal]:
        async for key in self._keys(wanted):
            if key and (found := await self._runtime.keys.granted(wanted.tenant, key)) is not None:
                yield found

    async def _keys(self, wanted: Wanted) -> AsyncIterator[str]:
        yield wanted.key  # a first attempt may run before the start of its call is stored
        try:
            aggregate = await self._topmost(wanted)
        except RejectedError:
            return
        machine, state = self._runtime.machines[aggregate.kind], aggregate.state
        is_plan = aggregate.kind == RUNBOOK
        is_extended = is_plan and state.course is not None and len(state.course.fragments) > 1
        async for row in self._runtime.store.history(aggregate):
            record = machine.records.decode(row.body)
            is_start = not is_plan or any(isinstance(each, STARTS) for each in record.entries)
            if is_start or any(isinstance(each, StepsAdded) for each in record.entries):
                yield record.key
            if is_start and not is_extended:
                return

    async def _topmost(self, wanted: Wanted) -> Aggregate:
        """The call, runbook or instance that somebody asked for: an instance that carries or is called has one."""
        kernel, origin, id = self._runtime.kernel, Origin(wanted.tenant, wanted.principal), wanted.call
        for _ in range(DEEPEST):
            aggregate = await kernel.read(parse_id(id), origin)
            parent = aggregate.state.parent if aggregate.kind == INSTANCE else ""
            kind, _, place = (parent or "").partition(":")
            if kind not in ("step", "node"):
                break
            id = place.partition(":")[0]
        return aggregate
