"""Operations on audit documents: everything that happened, to be verified by anybody without a store."""

from __future__ import annotations

from typing import Literal

from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Id
from perdure.app.operations.verb_scopes import EVERY_VERB_INSIDE

TAG = "audit"


class Export(Request, frozen=True):
    """A call, a runbook or an instance, and whether its document is JSON or a page."""

    id: Id
    format: Literal["json", "html"] = "json"


@operation("audit.export", Route("GET", "/calls/{id}/export"), tag=TAG, scope=EVERY_VERB_INSIDE, computes=True)
async def export_call(context: Context, request: Export) -> bytes:
    """Everything that happened in a call."""
    return await _document(context, request)


@operation("audit.export", Route("GET", "/instances/{id}/export"), tag=TAG, scope=EVERY_VERB_INSIDE, computes=True)
async def export_instance(context: Context, request: Export) -> bytes:
    """Everything that happened in an instance."""
    return await _document(context, request)


@operation(
    "audit.export", Route("GET", "/runbooks/{id}/export"), tag="runbooks", scope=EVERY_VERB_INSIDE, computes=True
)
async def export_runbook(context: Context, request: Export) -> bytes:
    """Everything that happened in a runbook, to be checked by anybody without a store."""
    return await _document(context, request)


async def _document(context: Context, request: Export) -> bytes:
    from perdure.app.compliance_export import export_document  # noqa: PLC0415  only who exports waits for it

    is_page = request.format == "html"
    return await export_document(context.perdure, request.id, context.public_keys, is_page=is_page)
