"""The retry and the end by hand of incidents, confirmed where a process that is called has become graver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from perdure.app.instances.manual_changes import confirm_manual_change
from perdure.app.runbooks.confirmation import check_confirmed, plan_of_starts, use_confirmation
from perdure.bpmn.machine.call_activity_flags import GRAVER_CALL
from perdure.engine import Flags
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text
from perdure.verb_contract import ConsequenceTier, tier_rank

if TYPE_CHECKING:
    from perdure.app.operations.operation import Context


async def retry_tokens(
    context: Context, id: str, token: int | None, *, flags: Flags | None = None, reason: str = "", confirm: str = "",
    phrase: str = "",
) -> Aggregate:  # fmt: skip
    """Try again what incidents of an instance stopped.

    A call of a process that is graver than the start of the instance was agreed to for is confirmed as its start is.
    """
    aggregate = await context.runtime.instances.read(id, context.origin)
    agreed = await confirm_graver(context, aggregate, token, "retry", confirm, phrase, {"flags": flags})
    for each in stuck_tokens(aggregate, token):
        aggregate = await context.runtime.engine.retry_incident(
            id, each, context.origin, flags=flags, reason=reason, agreed=agreed
        )
    return aggregate


async def confirm_graver(
    context: Context,
    aggregate: Aggregate,
    token: int | None,
    act: Literal["retry", "resolve"],
    confirm: str,
    phrase: str,
    change: Mapping[str, Any],
) -> ConsequenceTier | Literal[""]:
    """The consequence that whoever asks agrees to; empty where no call has become graver.

    Who ends such a call by hand says what came of something grave: that is confirmed as its retry is. What is set
    along with it is confirmed as any manual change is.
    """
    nodes = [aggregate.state.nodes.get(each) for each in stuck_tokens(aggregate, token)]
    stuck = [node for node in nodes if node is not None and node.incident and node.incident.code == GRAVER_CALL]
    if not stuck:
        await confirm_manual_change(context, aggregate, change, confirm, phrase)
        return ""
    elements = (await context.runtime.instances.loaded(aggregate)).elements
    calls = dict.fromkeys(getattr(elements[node.element], "process", "") for node in stuck)
    starts = [await context.perdure.processes.start_of(each, None) for each in calls]
    if not context.is_owner:
        what = {"instance": id_text(aggregate.id), "tokens": len(stuck), "act": act}
        plan = plan_of_starts(context.perdure, starts, what)
        await check_confirmed(plan, context.principal, confirm, phrase, else_hint=f"A person can {act} it.")
        await use_confirmation(context.perdure, context.principal, plan, confirm, context.idempotency_key)
    return max((each.consequence.tier for each in starts), key=tier_rank)


def stuck_tokens(aggregate: Aggregate, token: int | None) -> list[int]:
    """The tokens with incidents, or the one named; a rejection when nothing is stuck."""
    if token is not None:
        return [token]
    found = [node.number for node in aggregate.state.nodes.values() if node.incident is not None]
    if not found:
        fact = "it has no open incident"
        raise RejectedError(Rejection("wrong_state", "mend", "instance", id_text(aggregate.id), fact))
    return found
