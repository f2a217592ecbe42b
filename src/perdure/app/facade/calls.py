"""Calls, dead letters and incidents over the table of operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from perdure.app.agent_views import AgentView
from perdure.app.budgets import BudgetView
from perdure.app.calls.views import CallView, ErrorView
from perdure.app.engine_views import EngineView
from perdure.app.facade.performer import Desk, pages
from perdure.app.instances.views import InstanceView
from perdure.app.lifecycles.views import LifecycleStatus
from perdure.app.lists.list_rows import DeadLetterItem, RunbookRow, StuckView
from perdure.app.operations import calls, dead_letters, incidents
from perdure.app.operations.agents import CloseAgent, close_agent, list_agents
from perdure.app.operations.budgets import (
    LoosenBudget,
    TightenBudget,
    loosen_budget,
    show_budget,
    tighten_budget,
)
from perdure.app.operations.calls import (
    AmendCall,
    ApproveAmendment,
    CancelCall,
    EraseCall,
    ListCalls,
    ResolveCall,
    ShowCall,
)
from perdure.app.operations.dead_letters import DiscardLetter
from perdure.app.operations.engines import list_engines
from perdure.app.operations.instances import ShowInstance, show_instance
from perdure.app.operations.lifecycles import ShowLifecycle, show_lifecycle
from perdure.app.operations.overview import show_overview
from perdure.app.operations.request_fields import ById, Nothing, Paged
from perdure.app.operations.verbs import ShowVerb, show_verb
from perdure.app.overview.overview import Overview
from perdure.app.quarantine_views import QUARANTINED
from perdure.app.tracebacks import TracebackView
from perdure.errors import (
    CallFailedError,
    DamagedPayloadError,
    PerdureError,
    QuarantinedError,
    RejectedError,
    Rejection,
)
from perdure.lifecycles.instances import KIND as LIFECYCLE
from perdure.runbooks.executor.call_executor import index_text

MAX_LISTED = 1000


class CallDesk(Desk):
    """Calls, what could not be delivered to them, and what is stuck."""

    call: Callable[..., Awaitable[CallView]]

    async def result(self, verb: str, args: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """Call, wait for the end, and give back the result alone; a failed call raises CallFailedError."""
        view = await self.call(verb, args, wait=True, **options)
        if view.state != "completed":
            error = view.error
            if view.state == QUARANTINED and error is not None:
                kind = DamagedPayloadError if error.code == DamagedPayloadError.code else QuarantinedError
                raise kind("give the result of", "call", view.id, error.message.rstrip("."))
            fact = f"{error.code}: {error.message}" if error is not None else f"it was {view.state}"
            raise CallFailedError("complete", "call", view.id, fact.rstrip("."), error=error)
        return view.result

    async def status(self, id: str) -> CallView:
        """A call as it is now; `quarantined`, with the error that names the damage, when its bytes fail a check."""
        return await self._performer.ask(calls.show_call, ShowCall(id))

    async def wait(self, id: str, timeout_seconds: float | None = None) -> CallView:
        """Until the call has ended, or the time is up; then as `status`."""
        return await self._performer.wait(calls.show_call, ShowCall(id), "end", timeout_seconds)

    async def cancel(self, id: str, reason: str = "", *, seen: int | None = None) -> CallView:
        """Stop a call. What it already did stays done; nothing is compensated."""
        return await self._performer.ask(calls.cancel_call, CancelCall(id, reason), seen=seen)

    async def dead_letters(self, limit: int = MAX_LISTED) -> list[dict[str, Any]]:
        """What arrived and could not be delivered."""
        found: list[dict[str, Any]] = []
        async for item in pages(self._performer, DeadLetterItem, dead_letters.list_letters, Paged(), limit):
            found.append(msgspec.structs.asdict(item))
        return found

    async def discard(self, message_id: str, reason: str) -> None:
        """Close a dead letter without acting on it."""
        await self._performer.ask(dead_letters.discard_letter, DiscardLetter(message_id, reason))

    async def find(self, verb: str, /, limit: int = 100, **fields: Any) -> list[CallView]:
        """Calls by the values of the verb's declared `index`, newest first; several fields must all match."""
        where = [f"{name}:{index_text(value)}" for name, value in fields.items()]
        if not where:
            known = ", ".join((await self._performer.ask(show_verb, ShowVerb(verb))).index) or "none"
            fact, hint = "no field was given", f"Indexed: {known}."
            raise RejectedError(Rejection("invalid", "find calls of", "verb", verb, fact, hint))
        found: list[CallView] = []
        request = ListCalls(verb, where)
        async for row in pages(self._performer, RunbookRow, calls.list_calls, request, limit):
            found.append(await self.status(row.id))
        return found

    async def incidents(self, limit: int = MAX_LISTED) -> list[CallView | InstanceView | LifecycleStatus]:
        """Calls, instances that carry none and lifecycles that need a person, and whatever is quarantined."""
        stuck: dict[str, StuckView] = {}
        async for item in pages(self._performer, StuckView, incidents.list_incidents, Paged(), limit):
            stuck[item.id if item.state == QUARANTINED else item.concerns or item.id] = item
        return [await self._stuck(id, item) for id, item in stuck.items()]

    async def _stuck(self, id: str, item: StuckView) -> CallView | InstanceView | LifecycleStatus:
        """What needs a person; of something damaged at least that it is there, and what differs."""
        try:
            return await (self._lifecycle(id) if item.kind == LIFECYCLE else self._shown(id))
        except PerdureError as error:
            if item.state != QUARANTINED:
                raise
            damage = ErrorView("permanent_contract", item.code or error.code, item.text or str(error))
            return CallView(id, "", 0, QUARANTINED, error=damage)

    async def traceback(self, id: str) -> TracebackView:
        """The traceback that the latest failed attempt of a call, a step (`<id>:<step>`) or an instance left."""
        return await self._performer.ask(incidents.show_traceback, incidents.ShowTraceback(id))

    async def overview(self) -> Overview:
        """How things stand: what needs the principal, what is stuck, what runs, how much went through in a day."""
        return await self._performer.ask(show_overview, Nothing())

    async def agents(self) -> list[AgentView]:
        """The agents whose attempts a circuit breaker watches, by name."""
        return await self._performer.ask(list_agents, Nothing())

    async def close_agent(self, agent: str, *, reason: str) -> AgentView:
        """Close the circuit breaker of an agent by hand: it is asked again at once."""
        return await self._performer.ask(close_agent, CloseAgent(agent, reason))

    async def budget(self, id: str) -> BudgetView:
        """What all agents of a call, a runbook or an instance may use, have used and have reserved, and who waits."""
        return await self._performer.ask(show_budget, ById(id))

    async def tighten_budget(self, id: str, *, max_tokens: int | None = None, max_cost: str = "") -> BudgetView:
        """Let agents use less. What would be wider than now is refused."""
        return await self._performer.ask(tighten_budget, TightenBudget(id, max_tokens, max_cost))

    async def loosen_budget(
        self, id: str, *, reason: str, max_tokens: int | None = None, max_cost: str = ""
    ) -> BudgetView:
        """Let agents use more, with a reason. What waits for it goes on."""
        return await self._performer.ask(loosen_budget, LoosenBudget(id, reason, max_tokens, max_cost))

    async def engines(self) -> list[EngineView]:
        """Which engines carry processes: whether each can be reached, what it can, and what is under way to it."""
        return await self._performer.ask(list_engines, Nothing())

    async def retry(
        self, id: str, *, seen: int | None = None, confirm: str = "", phrase: str = ""
    ) -> CallView | InstanceView:
        """Try again what an incident stopped, in the call itself or in the process that carries it.

        For whoever comes through a server, a called process that has become graver needs `confirm`.
        """
        return await self._performer.ask(calls.retry_call, calls.RetryCall(id, confirm, phrase), seen=seen)

    async def resolve(
        self, id: str, result: Any = None, *, error: str | None = None, reason: str = "", seen: int | None = None,
        confirm: str = "", phrase: str = "",
    ) -> CallView | InstanceView:  # fmt: skip
        """End by hand what an incident stopped, with a result or an error.

        For a call that a process carries, the stuck task ends with that result, or with an error of that code.
        For whoever comes through a server, a called process that has become graver needs `confirm`.
        """
        request = ResolveCall(id, result, error, reason, confirm, phrase)
        return await self._performer.ask(calls.resolve_call, request, seen=seen)

    async def amend(
        self, id: str, data: Any = None, *, reason: str = "", target: Literal["input", "result"] = "input",
        approve: int | None = None, seen: int | None = None,
    ) -> CallView:  # fmt: skip
        """Propose a correction of data with a reason, or approve one that someone else proposed."""
        if approve is not None:
            return await self._performer.ask(calls.approve_amendment, ApproveAmendment(id, approve), seen=seen)
        return await self._performer.ask(calls.amend_call, AmendCall(id, data, reason, target), seen=seen)

    async def erase(self, id: str, reason: str, *, seen: int | None = None) -> CallView:
        """Erase the data of an ended call by a journalled tombstone; its history stays and still verifies."""
        return await self._performer.ask(calls.erase_call, EraseCall(id, reason), seen=seen)

    async def _lifecycle(self, id: str) -> LifecycleStatus:
        return await self._performer.ask(show_lifecycle, ShowLifecycle(id))

    async def _shown(self, id: str) -> CallView | InstanceView:
        try:
            return await self.status(id)
        except RejectedError:
            return await self._performer.ask(show_instance, ShowInstance(id))
