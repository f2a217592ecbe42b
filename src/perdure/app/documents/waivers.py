"""Waivers: a version without the document itself, by which people do without one, for a reason that the journal keeps.

| who waives | what becomes of it |
|---|---|
| one who may verify documents of the type | the waiver is verified, and counts as the document does |
| the first of two, where the type asks for four eyes | the waiver is pending, and opens no guard |
| the second, behind whom the first does not stand | the waiver is verified |
| anybody, for a document that is waived already | nothing changes |
| a person who rejects the waiver later, or its `valid_to` | guards close again, as for any document |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.app.documents.documents import Documents
from perdure.app.documents.submissions import MAX_NOTE, WAIVER, Submission
from perdure.app.documents.views import DocumentView
from perdure.documents.machine.commands import DecisionRule
from perdure.documents.machine.document_state import Document, Version
from perdure.errors import RejectedError, Rejection
from perdure.human_tasks import AGENT
from perdure.identifiers import check_key, id_text
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.verbs.document_types import DocumentType

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime


class Waivers:
    """The waivers of one tenant, on behalf of one principal."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._documents = Documents(runtime, origin)

    async def waive(
        self, type: str, subject: str, reason: str, *, valid_to: str = "", correlation_id: str = "",
        is_verb: bool = False,
    ) -> DocumentView:  # fmt: skip
        """Do without a document of a type about a subject; a second person agrees where the type asks for four eyes."""
        found = self._documents.type(type)
        check_key("waive a document about", "subject", subject)
        if not reason.strip() or len(reason) > MAX_NOTE:
            raise _refused(found, "invalid", f"it needs a reason of at most {MAX_NOTE:,} letters")
        rule = self._documents.rule_of(found, "waive", is_verb)
        self._check(found, rule)
        newest = await self._newest(found.name, subject)
        last = _waiver_of(newest.state) if newest is not None else None
        if newest is not None and last is not None and last.status == "verified":
            return await self._documents.get(id_text(newest.id))
        if newest is None or last is None or last.status != "pending":
            given = Submission(valid_to=valid_to, correlation_id=correlation_id)
            checks, now = self._runtime.document_duties.submissions, self._runtime.sources.now()
            checked = checks.waiver(found, reason, given, now)
            view = await self._documents.hand_in(found, subject, checked, newest)
            if rule.four_eyes:
                return view
            return await self._documents.verify(view.id, len(view.versions), reason, is_verb=is_verb)
        if rule.four_eyes and {last.by, *last.behind} & set(self._origin.names):
            return await self._documents.get(id_text(newest.id))
        return await self._documents.verify(id_text(newest.id), last.number, reason, is_verb=is_verb)

    def _check(self, type: DocumentType, rule: DecisionRule) -> None:
        """Whoever proposes a waiver is one of those who may decide on one."""
        who = self._origin.principal
        if who.startswith(AGENT) and not rule.agents:
            raise _refused(type, "forbidden", f"'{who}' is an agent", "Let a person decide.")
        if rule.groups and not set(rule.groups) & set(self._origin.groups):
            fact = f"'{who}' belongs to none of the groups {', '.join(rule.groups)}"
            raise _refused(type, "forbidden", fact, "Let somebody of them decide.")

    async def _newest(self, type: str, subject: str) -> Aggregate | None:
        found = await self._runtime.store.documents.find(self._origin.tenant, subject=subject, type=type, most=1)
        return await self._runtime.kernel.read(found[0].id, self._origin) if found else None


def _waiver_of(state: Document) -> Version | None:
    """The waiver that a document comes down to; None where something was handed in after it."""
    last = state.versions[-1] if state.versions else None
    return last if last is not None and last.source == WAIVER and not state.erased_at else None


def _refused(type: DocumentType, code: str, fact: str, hint: str = "") -> RejectedError:
    return RejectedError(Rejection(code, "waive", "document of type", type.name, fact, hint))  # type: ignore[arg-type]
