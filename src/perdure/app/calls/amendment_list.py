"""The corrections of a call with the data that each proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.calls.views import AmendmentView, amendment_view
from perdure.sources import parse_id

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure


class Correction(msgspec.Struct, frozen=True):
    """A correction with the data it proposes, null once they are erased."""

    amendment: AmendmentView
    data: Any = None


async def corrections_of(perdure: Perdure, id: str) -> list[Correction]:
    """Every correction of a call, oldest first."""
    aggregate = await perdure.runtime.kernel.read(parse_id(id), perdure._origin)
    found = getattr(aggregate.state, "amendments", ())
    values = await perdure._calls.payloads(aggregate, *[each.hash for each in found])
    return [Correction(amendment_view(each), value) for each, value in zip(found, values, strict=True)]
