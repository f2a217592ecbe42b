"""Manual changes: tokens, flags and data of an instance set by hand are confirmed where something grave is in reach.

| by hand | by whom |
|---|---|
| in an instance whose process reaches nothing grave | whoever may |
| where it reaches something grave | a person, who confirms it as a start of the process is confirmed |
| tokens are taken away and nothing else | whoever may |

Whoever puts a token before a grave verb, or writes the data that it is called with, decides about it as whoever starts
the process does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perdure.app.runbooks.confirmation import check_confirmed, plan_of_starts, use_confirmation
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text

if TYPE_CHECKING:
    from perdure.app.operations.operation import Context


async def confirm_manual_change(
    context: Context, aggregate: Aggregate, change: Mapping[str, Any], confirm: str, phrase: str
) -> None:
    """Refuse a change by hand that nobody confirmed, where the process of an instance reaches something grave."""
    if context.is_owner or not any(change.values()):
        return
    begun = await context.perdure.processes.start_under(await context.runtime.instances.loaded(aggregate))
    plan = plan_of_starts(context.perdure, [begun], {"instance": id_text(aggregate.id), **change})
    await check_confirmed(plan, context.principal, confirm, phrase, else_hint="A person can do it.")
    await use_confirmation(context.perdure, context.principal, plan, confirm, context.idempotency_key)
