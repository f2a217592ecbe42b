"""Corrections of a call's data: what each of them would change, for whoever has to agree to it."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.calls.views import AmendmentView, amendment_view
from perdure.app.perdure import Perdure
from perdure.sources import parse_id


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
