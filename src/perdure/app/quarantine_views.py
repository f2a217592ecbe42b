"""Views of damaged work: an aggregate in quarantine is shown as `quarantined`, with the error that names the damage.

| damaged | shown | a command that needs it |
|---|---|---|
| the row of the aggregate | its id and the error, nothing else | raises QuarantinedError |
| a payload, changed, cut off or missing | everything but data, and the error | raises PayloadIntegrityError |
| the journal | everything the state says, and the error | goes on; what reads the journal raises QuarantinedError |
| none any more, but an entry is left | the error, until an audit or an amendment finds all of it whole | goes on |
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from perdure.app.calls.views import CarrierView, ErrorView, IncidentView
from perdure.errors import QuarantinedError

QUARANTINED = "quarantined"

V = TypeVar("V", bound=msgspec.Struct)


def damage_view(error: QuarantinedError) -> ErrorView:
    """The damage as an error of a view."""
    return ErrorView("permanent_contract", error.code, str(error))


def quarantined(view: V, error: QuarantinedError | None) -> V:
    """A view of something damaged; unchanged where no error says so."""
    if error is None:
        return view
    told: dict[str, Any] = {"state": QUARANTINED}
    if "error" in view.__struct_fields__:
        told["error"] = damage_view(error)
    return msgspec.structs.replace(view, **told)


def damaged_carrier(view: CarrierView, error: QuarantinedError | None) -> CarrierView:
    """The process of a call, stopped by its damage as by an incident."""
    if error is None:
        return view
    stopped = IncidentView(0, "", error.code, str(error), None)
    return msgspec.structs.replace(view, state=QUARANTINED, progress=QUARANTINED, incidents=[stopped])
