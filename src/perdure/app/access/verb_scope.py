"""Which waits somebody reaches: those of verbs that they may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.access.principal import EVERY_VERB, Principal
from perdure.access.roles import check
from perdure.errors import RejectedError, Rejection

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure


async def check_reach(perdure: Perdure, principal: Principal, operation: str, key: str, verb: str = "") -> None:
    """Refuse whose key does not reach every verb that waits under it."""
    verbs = await perdure.waits.verbs_under(key, verb)
    for each in verbs:
        check(principal, operation, verb=each)
    if verbs or EVERY_VERB[0] in principal.verbs:
        return
    # What comes too early is kept and applied when its wait begins: then it must have been for a verb they reach.
    if not verb:
        fact, hint = "nothing waits under it yet and your key does not reach every verb", "Name the verb it is for."
        raise RejectedError(Rejection("forbidden", "complete", "key", key, fact, hint))
    check(principal, operation, verb=verb)
