"""Runbooks: planned, started, watched, steered; the same operations for people, programs and agents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from perdure.app.calls.call_journal import follow as follow_journal
from perdure.app.calls.call_journal import read
from perdure.app.calls.outcome_wait import wait_for
from perdure.app.calls.views import EventView
from perdure.app.facade.performer import Performer
from perdure.app.facade.runbooks import RunbookDesk
from perdure.app.runbooks.plan_composition import check_words
from perdure.app.runbooks.view_builder import RunbookViews
from perdure.app.runbooks.views import PlanView, RunbookView, plan_view
from perdure.app.runtime import Runtime
from perdure.errors import RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import canonical, digest
from perdure.runbooks.executor.call_executor import KIND, SETTLED, keyed_id
from perdure.runbooks.executor.plan_executor import index_of
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.state import Runbook
from perdure.runbooks.plan import Plan, Reevaluate
from perdure.sources import id_text, parse_id

Form = Literal["auto", "lisp", "let"]


class RunbookOperations(RunbookDesk):
    """Plans of several verbs. Reached as `perdure.runbooks`; a step is named by its name or its number.

    Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left alone.
    """

    def __init__(self, performer: Performer, runtime: Runtime, origin: Origin, views: RunbookViews) -> None:
        super().__init__(performer)
        self._runtime = runtime
        self._conductor = runtime.conductor
        self._origin = origin
        self._views = views

    # --- before it runs ------------------------------------------------------------------------------------------

    def compile(
        self,
        program: str,
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        after: Plan | None = None,
        file: str = "",
        reevaluate: Reevaluate = "decisions",
    ) -> Plan:
        """The plan of a program; ProgramError with everything that is wrong with it, and in which file.

        With `reevaluate="always"` its last decision is asked again, with its arguments, at every resume.
        """
        from perdure.runbooks.language.compiler import compile_program, reevaluated  # noqa: PLC0415  who compiles

        check_words(form, reevaluate)
        named = {"file": file} if file else {}
        catalogue = self._runtime.catalogue
        plan = compile_program(program, catalogue, form=form, variables=variables or {}, after=after, **named)
        return reevaluated(plan, catalogue) if reevaluate == "always" else plan

    def plan(
        self,
        program: str | Plan,
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        reevaluate: Reevaluate = "decisions",
    ) -> PlanView:
        """What a program would do, without doing any of it: steps in sentences, waves, writes, locks and tier."""
        from perdure.runbooks.language.dry_run import dry_run  # noqa: PLC0415  only who compiles needs it

        plan = self._planned(program, variables, form, reevaluate)
        return plan_view(plan, dry_run(plan, self._runtime.catalogue), self._engine_of)

    def _engine_of(self, name: str) -> str:
        """The engine on which the process of a verb would begin now; empty of a verb without one."""
        verb = self._runtime.catalogue.find(name) if name else None
        if verb is None or not verb.execution.process:
            return ""
        return self._runtime.engine.place(verb.execution.process, self._origin.tenant).name

    async def start(
        self,
        program: str | Plan,
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        case: str = "",
        idempotency_key: str = "",
        confirmation: str = "",
        wait: bool = False,
        sealed: bool = True,
        timeout_seconds: float | None = None,
        reevaluate: Reevaluate = "decisions",
    ) -> RunbookView:
        """Run a program. Returns when its start is durable; with `wait`, when it has ended or come to rest.

        A `confirmation` is the hash of the plan that somebody agreed to: another plan is refused. A runbook that is not
        `sealed` can be extended for ever and completes only after it was sealed. With `reevaluate="always"` its last
        decision is asked again, with its arguments, whenever a wait of it has ended.
        """
        plan = self._planned(program, variables, form, reevaluate)
        if confirmation and confirmation != plan.content_hash:
            fact, hint = "the plan is not the one that was confirmed", "Look at the plan again and confirm it."
            raise RejectedError(Rejection("blocked", "start", "runbook", plan.content_hash, fact, hint))
        if idempotency_key and (known := await self._conductor.plans.replay(plan, case, self._origin, idempotency_key)):
            return await self._views.view(known)
        id = keyed_id(self._origin.tenant, idempotency_key) if idempotency_key else self._runtime.sources.new_id()
        aggregate = await self._conductor.plans.start(
            plan, self._origin, id, case=case, is_sealed=sealed, idempotency_key=idempotency_key
        )
        return await self._settled(aggregate, wait, timeout_seconds)

    def _planned(
        self, program: str | Plan, variables: Mapping[str, Any] | None, form: Form, reevaluate: Reevaluate
    ) -> Plan:
        check_words(form, reevaluate)
        if isinstance(program, str):
            return self.compile(program, variables=variables, form=form, reevaluate=reevaluate)
        from perdure.runbooks.language.compiler import reevaluated  # noqa: PLC0415  only who compiles needs it

        return reevaluated(program, self._runtime.catalogue) if reevaluate == "always" else program

    async def _settled(self, aggregate: Aggregate, wait: bool, timeout_seconds: float | None = None) -> RunbookView:
        if wait and aggregate.state.status not in SETTLED:
            aggregate = await wait_for(self._runtime, self._origin, aggregate.id, False, timeout_seconds, aggregate)
        return await self._views.view(aggregate)

    # --- looking -------------------------------------------------------------------------------------------------

    async def rest(self, id: str, timeout_seconds: float | None = None) -> RunbookView:
        """Once it has gone as far as it goes by itself, or the time is up; it goes on without us."""
        return await self._views.view(await wait_for(self._runtime, self._origin, parse_id(id), False, timeout_seconds))

    async def has(self, id: str) -> bool:
        """Whether an id is that of a plan or a draft, rather than of one call."""
        state: Runbook = (await read(self._runtime, self._origin, id)).state
        return state.course is not None or state.draft is not None

    def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """Its journal, oldest first; with `follow`, what is still to come as well until it ends."""
        return follow_journal(self._runtime, self._origin, id, after, follow)

    # --- steering ------------------------------------------------------------------------------------------------

    async def extend(
        self,
        id: str,
        program: str | Callable[[Plan], Plan],
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        edges: Sequence[tuple[str, str]] = (),
        file: str = "",
    ) -> RunbookView:
        """Add steps behind those there are. An edge is a pair: a step that has not begun, and the one it now waits for.

        Instead of a program, a function may give the longer plan for the one there is; what it raises is raised here.
        """

        def grow(before: Plan) -> Plan:
            if callable(program):
                return program(before)
            return self.compile(program, variables=variables, form=form, after=before, file=file)

        aggregate = await self._conductor.plans.extend(parse_id(id), self._origin, grow, edges)
        return await self._views.view(aggregate)

    # --- drafts --------------------------------------------------------------------------------------------------

    async def open_draft(self, document: Any, *, case: str = "", idempotency_key: str = "") -> str:
        """Begin to write a runbook; the id stays when it is started. Under one key it is begun once."""
        if case:
            check_key("draft a runbook for", "case", case)
        hash, data = _document(document)
        request = digest(b"draft\0" + hash + case.encode())
        if idempotency_key and (known := await self._drafted(idempotency_key, request)):
            return known
        id = self._runtime.sources.new_id()
        brought = Attachments(payloads=[(hash, data)], index=index_of(case, self._conductor.now()), is_plan=True)
        if idempotency_key:
            brought.idempotency = (idempotency_key, request)
        command = Prepared(c.OpenDraft(hash, case), brought)
        answer = await self._runtime.kernel.start(KIND, id, self._origin, command)
        if answer.conflict is not None and (known := await self._drafted(idempotency_key, request)):
            return known
        return id_text(id)

    async def _drafted(self, key: str, request: bytes) -> str:
        """The draft that was begun under a key; a rejection when that was something else."""
        known = await self._runtime.store.idempotent_start(self._origin.tenant, key)
        if known is not None and known[1] != request:
            fact = f"the idempotency key '{key}' was used for something else ({id_text(known[0])})"
            hint = "Use a new key for a new request."
            raise RejectedError(Rejection("already_exists", "open", "draft", key, fact, hint))
        return id_text(known[0]) if known is not None else ""

    async def draft(self, id: str) -> Any:
        """The document of a draft as it reads now."""
        aggregate = await read(self._runtime, self._origin, id)
        draft = aggregate.state.draft
        if draft is None:
            raise RejectedError(Rejection("wrong_state", "read the draft of", "runbook", id, "it was never a draft"))
        data = await self._runtime.store.payload(aggregate.id, draft.revisions[draft.current - 1])
        return msgspec.json.decode(data) if data is not None else None

    async def revise(self, id: str, document: Any, change: str = "") -> Any:
        """The draft reads differently now; `change` says how, in words."""
        hash, data = _document(document)
        return await self._revise(id, c.ReviseDraft(hash, change), Attachments(payloads=[(hash, data)]))

    async def undo(self, id: str) -> Any:
        """Back to how the draft read before; returns that."""
        return await self._revise(id, c.UndoRevision())

    async def redo(self, id: str) -> Any:
        """Forward to what was undone; returns that."""
        return await self._revise(id, c.RedoRevision())

    async def start_draft(
        self, id: str, program: str | Plan, *, variables: Mapping[str, Any] | None = None, sealed: bool = True,
        wait: bool = False,
    ) -> RunbookView:  # fmt: skip
        """Run a draft as the plan it was made into; its id and its history stay."""
        plan = program if isinstance(program, Plan) else self.compile(program, variables=variables)
        aggregate = await self._conductor.plans.start(plan, self._origin, parse_id(id), is_sealed=sealed, is_draft=True)
        return await self._settled(aggregate, wait)

    async def _revise(self, id: str, command: c.Command, brought: Attachments | None = None) -> Any:
        await self._runtime.kernel.ask(KIND, parse_id(id), self._origin, Prepared(command, brought))
        return await self.draft(id)


def _document(document: Any) -> tuple[bytes, bytes]:
    data = canonical(msgspec.to_builtins(document))
    return digest(data), data
