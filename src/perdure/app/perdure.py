"""`Perdure`: every operation of the platform, the same ones that all surfaces use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from perdure.app.access.api_keys import KeyOperations
from perdure.app.audit.seal_key import sealer_for
from perdure.app.calls.outcome_wait import follow as follow_events
from perdure.app.calls.outcome_wait import is_ended, read, wait_for
from perdure.app.calls.view_builder import CallViews, spoken_of
from perdure.app.calls.views import CallView, EventView, ReceiptView, quarantined_view
from perdure.app.configuration.definitions import load_definitions, load_models
from perdure.app.configuration.project import DEFAULT_STORE, KEEP_SECONDS, SEAL_SECONDS, Config
from perdure.app.feed.feed import Feed
from perdure.app.instances.views import InstanceView
from perdure.app.lists.lists import Listing, concerned
from perdure.app.lists.views import DeadLetterItem, dead_letter
from perdure.app.message_views import Sent, sent_view
from perdure.app.overview.overview import Glance, Overview
from perdure.app.packs import PackOperations, pack_places
from perdure.app.processes.processes import InstanceOperations, Processes, Views
from perdure.app.processes.project_models import ProjectModels, default_places
from perdure.app.record_lookup import MatchView, look_up
from perdure.app.runbooks.runbooks import RunbookOperations
from perdure.app.runtime import Role, Runtime
from perdure.app.tasks.tasks import TaskOperations
from perdure.app.wait_permissions import WaitPermissions, letter_of
from perdure.app.webhooks.dispatch import HOOK, WebhookDispatcher, with_delivery_verb
from perdure.app.webhooks.dispatch import replay as deliver_again
from perdure.bpmn.machine.identity import child_id
from perdure.channels.webhook_settings import Hooks
from perdure.contracts import FailureClass, check_key
from perdure.engine import MESSAGE, SIGNAL, MessageOutcome, Vet
from perdure.errors import CallFailedError, QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments
from perdure.runbooks.executor.call_executor import KIND, SETTLED, index_text
from perdure.runbooks.executor.inbox import Completion, CompletionStatus, Receipt
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.runbooks.machine.state import Failure, Runbook
from perdure.sources import Id, Sources, SystemSources, id_text, parse_id
from perdure.store.driver_selection import open_driver
from perdure.telemetry import TelemetrySettings
from perdure.verbs import Catalogue, HandlerRegistry

MAX_LISTED = 1000
POLL_SECONDS = 1.0


class Perdure:
    """An open store with its verbs. Made by `Perdure.open(...)`; every operation is safe to repeat."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        check_key("act for", "tenant", origin.tenant)
        self.runtime = runtime
        self.catalogue: Catalogue = runtime.catalogue
        self._origin = origin
        self._views = Views(runtime)
        self._calls = CallViews(runtime.kernel, runtime.store, origin, self._views.carrier, self.catalogue.sentence)
        self._view = self._calls.view
        self.processes = Processes(runtime, origin)
        self.instances = InstanceOperations(runtime, origin, self._views)
        self.tasks = TaskOperations(runtime, origin, self._views)
        self.runbooks = RunbookOperations(runtime, origin, self._views)
        self.waits = WaitPermissions(runtime, origin)
        self.feed = Feed(runtime, origin)
        self.access = KeyOperations(runtime, origin)
        self.packs: PackOperations = runtime.packs
        self.listing = Listing(runtime, origin, self.tasks, self._views)
        self._engine = runtime.engine
        self._vet: Vet | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str = DEFAULT_STORE,
        *,
        definitions: Sequence[str | Path] | str | Path | Catalogue = (),
        models: Sequence[str | Path] | None = None,
        packs: Sequence[str | Path] = (),
        handlers: Sequence[str] | Mapping[str, Any] = (),
        environment: str | Path | Mapping[str, Any] | None = None,
        tenant: str = "default",
        principal: str = "local",
        groups: Sequence[str] = (),
        role: Role = "worker",
        keep_seconds: float | None = KEEP_SECONDS,
        seal_key_file: str | Path | None = None,
        seal_every_seconds: float = SEAL_SECONDS,
        sources: Sources | None = None,
        telemetry: TelemetrySettings | None = None,
        span_exporter: Any = None,
        hooks: Hooks | None = None,
    ) -> AsyncIterator[Perdure]:
        """Open a store, bring its schema up to date, take a lease and begin to work.

        `handlers` names importable packages, or maps verb names to functions and agents. `models` are model files or
        folders of them, by default the folder `models` beside the definitions; what changed in them is deployed. A
        `worker` looks after timers, retries and abandoned work; a `caller` only after its own calls; a `reader` runs
        nothing. Nothing is measured or traced unless `telemetry` says so; `span_exporter` is any of OpenTelemetry's,
        in place of OTLP over HTTP. `hooks` says who sends signed messages, and whom a worker tells what happened.
        """
        if hooks is not None:
            hooks.check()
        catalogue = load_definitions(definitions, environment)
        tells = hooks is not None and bool(hooks.leaving)
        if tells:
            catalogue = with_delivery_verb(catalogue)
        project = load_models(definitions, models) if role != "reader" else ProjectModels([])
        packages, bound = ((), handlers) if isinstance(handlers, Mapping) else (handlers, {})
        # Who runs nothing needs no handlers: looking at a call must not depend on code that may not import.
        registry = HandlerRegistry.collect(list(packages), catalogue, bound) if role != "reader" else HandlerRegistry()
        time = sources or SystemSources()
        runtime = Runtime(
            open_driver(url), catalogue, registry, time, role=role, keep_seconds=keep_seconds,
            sealer=sealer_for(url, seal_key_file, time, seal_every_seconds),
        )  # fmt: skip
        runtime.observe(telemetry or TelemetrySettings(), span_exporter)
        runtime.packs = PackOperations([Path(each) for each in packs])
        runtime.hooks = hooks or Hooks()
        telling = WebhookDispatcher(runtime, runtime.hooks, registry) if tells and role == "worker" else None
        await runtime.start()
        try:
            await runtime.deploy_models(project, Origin(tenant, principal))
            if telling is not None:
                telling.start()
            yield cls(runtime, Origin(tenant, principal, groups=tuple(groups)))
        finally:
            if telling is not None:
                await telling.stop()
            await runtime.stop()

    @classmethod
    def from_config(cls, config: Config, **changes: Any) -> Any:
        """`open` with the settings of a `perdure.yaml`."""
        settings: dict[str, Any] = {
            "definitions": config.definitions, "handlers": config.handlers,
            "models": config.models if config.models is not None else default_places(config.definitions),
            "environment": config.environment, "packs": pack_places(config),
            "keep_seconds": config.keep_seconds, "seal_key_file": config.seal_key_file,
            "seal_every_seconds": config.seal_every_seconds, "telemetry": config.telemetry,
            "hooks": config.hooks,
        }  # fmt: skip
        url = changes.pop("url", config.store)
        return cls.open(url, **{**settings, **changes})

    def acting(
        self,
        *,
        tenant: str | None = None,
        principal: str | None = None,
        trace: str | None = None,
        groups: Sequence[str] | None = None,
    ) -> Self:
        """The same store on behalf of someone else; every command carries who asked.

        `groups` are those the principal belongs to: you vouch for them, and human tasks rely on it. Another principal
        belongs to none unless you say so.
        """
        before = self._origin
        origin = Origin(
            before.tenant if tenant is None else tenant,
            before.principal if principal is None else principal,
            before.trace if trace is None else trace,
            tuple(groups) if groups is not None else before.groups if principal is None else (),
        )
        return type(self)(self.runtime, origin)

    def vetting(self, vet: Vet) -> Self:
        """The same; what is sent begins processes only when `vet` says nothing against it."""
        made = self.acting()
        made._vet = vet
        return made

    # --- calls ---------------------------------------------------------------------------------------------------

    async def call(
        self,
        verb: str,
        args: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        idempotency_key: str = "",
        wait: bool | None = None,
        timeout_seconds: float | None = None,
    ) -> CallView:
        """Ask for a verb. Returns when it has completed, failed or parked, and all of it is durable.

        With `wait` it returns only when the call has ended; by default that is so for verbs declared `wait: block`.
        """
        found = self.catalogue.get(verb, version)
        aggregate = await self.runtime.conductor.call(found, args or {}, self._origin, idempotency_key=idempotency_key)
        should_end = wait if wait is not None else found.execution.wait == "block"
        if (should_end and not is_ended(aggregate)) or (
            aggregate.state.status not in SETTLED and not self.runtime.is_driven
        ):
            aggregate = await self._wait(aggregate.id, should_end, timeout_seconds)
        return await self._view(aggregate)

    async def result(self, verb: str, args: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """Call, wait for the end, and give back the result alone; a failed call raises CallFailedError."""
        view = await self.call(verb, args, wait=True, **options)
        if view.state != "completed":
            error = view.error
            fact = f"{error.code}: {error.message}" if error is not None else f"it was {view.state}"
            raise CallFailedError("complete", "call", view.id, fact.rstrip("."), error=error)
        return view.result

    async def status(self, id: str) -> CallView:
        """A call as it is now."""
        return await self._view(await self._read(id))

    async def _read(self, id: str) -> Aggregate:
        return await read(self.runtime, self._origin, id)

    async def wait(self, id: str, timeout_seconds: float | None = None) -> CallView:
        """Until the call has ended, or the time is up; then as `status`."""
        return await self._view(await self._wait(parse_id(id), True, timeout_seconds))

    async def _wait(self, id: Id, until_ended: bool, timeout_seconds: float | None) -> Aggregate:
        return await wait_for(self.runtime, self._origin, id, until_ended, timeout_seconds)

    async def cancel(self, id: str, reason: str = "") -> CallView:
        """Stop a call. What it already did stays done; nothing is compensated."""
        return await self._ask(id, c.Cancel(reason))

    async def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The call's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        async for event in follow_events(self.runtime, self._origin, id, after, follow):
            yield event

    # --- what arrives --------------------------------------------------------------------------------------------

    async def complete(
        self,
        key: str,
        result: Any = None,
        *,
        error: str | None = None,
        status: CompletionStatus | None = None,
        code: str = "completion.failed",
        failure_class: FailureClass = "permanent_business",
        message_id: str = "",
        verb: str = "",
    ) -> ReceiptView:
        """End the wait under a key. Delivered twice, it counts once; nobody waiting makes it a dead letter.

        The key of a human task completes the task.
        """
        if await self.waits.is_task(key):
            return await self._complete_task(key, result, error, message_id)
        kind: CompletionStatus = status or ("failed" if error is not None else "completed")
        completion = Completion(key, kind, result, error or "", code, failure_class, verb)
        return await self._receipt(await self.runtime.intake.complete(completion, self._origin, message_id))

    async def _complete_task(self, key: str, result: Any, error: str | None, message_id: str) -> ReceiptView:
        if error is not None:
            fact, hint = "a person's task is completed, never failed", "Model a way out that the task's data leads to."
            raise RejectedError(Rejection("invalid", "complete", "task", key, fact, hint))
        await self.tasks.complete(key, result, message_id=message_id)
        return ReceiptView("applied", message_id)

    async def publish(
        self,
        name: str,
        key: str = "",
        data: Mapping[str, Any] | None = None,
        *,
        message_id: str = "",
        ttl_seconds: float = 0,
    ) -> MessageOutcome:
        """Send a message to the instance that waits for it under a key, or to the processes that start by it.

        Under one message id it counts once. With a time to live it is kept until someone waits.
        """
        return (await self.send(name, key, data, message_id=message_id, ttl_seconds=ttl_seconds)).outcome

    async def send(
        self, name: str, key: str = "", data: Mapping[str, Any] | None = None, *, message_id: str = "",
        ttl_seconds: float = 0, is_for_now: bool = False,
    ) -> Sent:  # fmt: skip
        """As `publish`, or `correlate` when it is for now, with all there is to say about what became of it."""
        if is_for_now:
            receipt = await self._engine.correlate(
                name, key, self._origin, message_id=message_id, data=data, vet=self._vet
            )
        else:
            receipt = await self._engine.publish(
                name, key, self._origin, message_id=message_id, ttl_seconds=ttl_seconds, data=data, vet=self._vet
            )
        return sent_view(name, key, receipt)

    async def correlate(
        self, name: str, key: str = "", data: Mapping[str, Any] | None = None, *, message_id: str = ""
    ) -> MessageOutcome:
        """As `publish`, but for someone who waits now or for nobody."""
        return (await self.send(name, key, data, message_id=message_id, is_for_now=True)).outcome

    async def signal(self, name: str, data: Mapping[str, Any] | None = None, *, message_id: str = "") -> int | None:
        """Tell everyone who waits for a signal, and begin the processes that start by it; how many were reached,
        or None where the engine does not count them."""
        told = await self._engine.signal(name, self._origin, message_id=message_id, data=data, vet=self._vet)
        return told.reached

    async def end_wait(self, completion: Completion, message_id: str = "") -> ReceiptView:
        """As `complete`, of the wait that the completion names and no other."""
        return await self._receipt(await self.runtime.intake.complete(completion, self._origin, message_id))

    async def tell_wait(self, key: str, text: str, wait: str) -> ReceiptView:
        """As `progress`, of a wait that has a name."""
        return await self._receipt(await self.runtime.intake.progress(key, text, self._origin, wait))

    async def letter(self, message_id: str) -> DeadLetterItem:
        """A dead letter with all it brings."""
        return await letter_of(self.runtime, self._origin, message_id)

    async def progress(self, key: str, text: str) -> ReceiptView:
        """Say how it goes: shown, never resumes anything."""
        return await self._receipt(await self.runtime.intake.progress(key, text, self._origin))

    async def dead_letters(self, limit: int = MAX_LISTED) -> list[dict[str, Any]]:
        """What arrived and could not be delivered."""
        letters = await self.runtime.intake.dead_letters(self._origin, limit)
        return [dead_letter_view(letter) for letter in letters]

    async def replay(self, message_id: str, *, key: str = "", instance: str = "") -> ReceiptView:
        """Deliver a dead letter again, perhaps under a corrected key, or to one of several instances that want it."""
        check_key("replay", "dead letter", message_id)
        letter = await self.runtime.store.message(self._origin.tenant, message_id)
        if letter is not None and letter.kind == HOOK:
            await deliver_again(self.runtime, self._origin, message_id)
            return ReceiptView("applied", message_id)
        if letter is None or letter.kind not in (MESSAGE, SIGNAL):
            return await self._receipt(await self.runtime.intake.replay(message_id, self._origin, key))
        chosen = parse_id(instance, "instance") if instance else None
        told = await self._engine.replay(message_id, self._origin, key=key, instance=chosen, vet=self._vet)
        return ReceiptView(told.outcome, message_id, told.reason)

    async def discard(self, message_id: str, reason: str) -> None:
        """Close a dead letter without acting on it."""
        check_key("discard", "dead letter", message_id)
        await self.runtime.intake.discard(message_id, reason, self._origin)

    # --- lists ---------------------------------------------------------------------------------------------------

    async def parked(self, *, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """What waits, oldest first; `number` of the last is the `after` of the next page."""
        return await self._calls.parked(after, limit)

    async def find(self, verb: str, /, limit: int = 100, **fields: Any) -> list[CallView]:
        """Calls by the values of the verb's declared `index`, newest first; several fields must all match."""
        found = self.catalogue.get(verb)
        unknown = [name for name in fields if name not in found.definition.index]
        if unknown or not fields:
            known = ", ".join(found.definition.index) or "none"
            fact = f"'{unknown[0]}' is not in its index" if unknown else "no field was given"
            raise RejectedError(Rejection("invalid", "find calls of", "verb", verb, fact, f"Indexed: {known}."))
        matches: list[Id] | None = None
        for name, value in fields.items():
            ids = await self.runtime.store.find(self._origin.tenant, found.name, name, index_text(value), MAX_LISTED)
            matches = ids if matches is None else [id for id in matches if id in set(ids)]
        return [await self._calls.listed(id) for id in (matches or [])[:limit]]

    async def look_up(self, entity: str, text: str, limit: int = 20) -> list[MatchView]:
        """Records of a declared entity that a name may mean, exact ones first; at most 2,000 are looked at."""
        origin = self._origin
        return await look_up(
            self.runtime.desk, self.catalogue.entities, origin.tenant, origin.principal, entity, text, limit
        )

    async def incidents(self, limit: int = MAX_LISTED) -> list[CallView | InstanceView]:
        """Calls that need a person, and instances that carry no call and do."""
        found: dict[Id, None] = {}
        for id, *_ in await self.runtime.store.incidents(self._origin.tenant, limit):
            found[await self._concerned(id)] = None
        return [await self._shown(id) for id in found]

    async def _concerned(self, id: Id) -> Id:
        """Whom an incident concerns: the call that an instance carries, through however many called processes."""
        return await concerned(self.runtime, self._origin, id)

    async def _shown(self, id: Id) -> CallView | InstanceView:
        try:
            aggregate = await self.runtime.kernel.read(id, self._origin)
            return await (self._view(aggregate) if aggregate.kind == KIND else self._views.instance(aggregate))
        except QuarantinedError as error:
            return quarantined_view(id_text(id), self._origin.tenant, error)

    async def overview(self) -> Overview:
        """How things stand: what needs the principal, what is stuck, what runs, how much went through in a day."""
        return await Glance(self.runtime, self._origin, self.listing).overview()

    # --- people --------------------------------------------------------------------------------------------------

    async def retry(self, id: str) -> CallView | InstanceView:
        """Try again what an incident stopped, in the call itself or in the process that carries it."""
        call = parse_id(id)
        if (instance := await self._stuck_instance(call)) is not None:
            await self.instances.retry(id_text(instance))
            return await self._shown(call)
        worker = self.runtime.lease.number
        number = spoken_of((await self._read(id)).state) or 1
        is_failed = (await self._read(id)).state.steps[number - 1].status == "failed"
        prepared = Prepared(c.RetryStep(number) if is_failed else c.RetryIncident(number, worker))
        answer = await self.runtime.kernel.ask(KIND, call, self._origin, prepared)
        assert answer.aggregate is not None
        return await self._view(await self.runtime.conductor.executed(answer.aggregate))

    async def resolve(
        self, id: str, result: Any = None, *, error: str | None = None, reason: str = ""
    ) -> CallView | InstanceView:
        """End by hand what an incident stopped, with a result or an error.

        For a call that a process carries, the stuck task ends with that result, or with an error of that code.
        """
        call = parse_id(id)
        if (instance := await self._stuck_instance(call)) is not None:
            await self.instances.resolve(id_text(instance), data=result, error=error or "", reason=reason)
            return await self._shown(call)
        if error is not None:
            failure = Failure("permanent_business", "incident.resolved", error)
            number = spoken_of((await self._read(id)).state) or 1
            return await self._ask(id, c.ResolveIncident(number, failure=failure, reason=reason))
        aggregate = await self._read(id)
        number = spoken_of(aggregate.state) or 1
        step = aggregate.state.steps[number - 1]
        verb = self.catalogue.find(step.verb, step.version)
        cargo = self.runtime.router.outgoing(verb, {} if result is None else result) if verb is not None else None
        if cargo is None:
            raise RejectedError(Rejection(
                "blocked", "resolve", "call", id,
                f"its verb '{step.verb}' is not loaded here, so the result cannot be checked",
                "Resolve it with an error, or where the verb is loaded.",
            ))  # fmt: skip
        brought = Attachments(payloads=[(cargo.hash, cargo.data)])
        return await self._ask(id, c.ResolveIncident(number, result=cargo.hash, reason=reason), brought)

    async def amend(
        self, id: str, data: Any = None, *, reason: str = "", target: Literal["input", "result"] = "input",
        approve: int | None = None,
    ) -> CallView:  # fmt: skip
        """Propose a correction of data with a reason, or approve one that someone else proposed."""
        if approve is not None:
            return await self._approve(id, approve)
        aggregate = await self._read(id)
        step = aggregate.state.steps[0]
        verb = self.catalogue.get(step.verb, step.version)
        if target == "input" and not isinstance(data or {}, Mapping):
            raise RejectedError(
                Rejection("invalid", "amend", "call", id, "arguments are an object of names and values")
            )
        router = self.runtime.router
        cargo = router.incoming(verb, data or {}) if target == "input" else router.outgoing(verb, data)
        command = c.ProposeAmendment(target, cargo.hash, reason)
        return await self._ask(id, command, Attachments(payloads=[(cargo.hash, cargo.data)]))

    async def _approve(self, id: str, number: int) -> CallView:
        call = parse_id(id)
        aggregate = await self.runtime.kernel.read(call, self._origin)
        state: Runbook = aggregate.state
        brought: Attachments | None = None
        if 1 <= number <= len(state.amendments):
            amendment = state.amendments[number - 1]
            step = state.steps[0]
            verb = self.catalogue.get(step.verb, step.version)
            hashes = {"input": step.input, "result": step.result, amendment.target: amendment.hash}
            values = await self._calls.payloads(aggregate, *hashes.values())
            brought = Attachments(index=self.runtime.conductor.index(verb, values), reindexes=True)
        return await self._ask(id, c.ApproveAmendment(number), brought)

    async def erase(self, id: str, reason: str) -> CallView:
        """Erase the data of an ended call by a journalled tombstone; its history stays and still verifies."""
        await self.runtime.upkeep.erase(parse_id(id), self._origin, reason)
        return await self.status(id)

    def metrics(self) -> dict[str, int]:
        """Counters of this process."""
        return {"commits": self.runtime.driver.commits, "lease": self.runtime.lease.number}

    # --- inside --------------------------------------------------------------------------------------------------

    async def _ask(self, id: str, command: c.Command, brought: Attachments | None = None) -> CallView:
        answer = await self.runtime.kernel.ask(KIND, parse_id(id), self._origin, Prepared(command, brought))
        assert answer.aggregate is not None
        return await self._view(answer.aggregate)

    async def _stuck_instance(self, id: Id) -> Id | None:
        """The instance whose incident stops a call, or the instance of that id; None when the call itself is stuck."""
        aggregate = await self.runtime.kernel.read(id, self._origin)
        if aggregate.kind != KIND:
            return id
        if any(step.incident is not None for step in aggregate.state.steps):
            return None
        letters = id_text(id)
        for number, step in enumerate(aggregate.state.steps, 1):
            if step.carrier is not None and step.status == "parked":
                place = f"step:{carried_as(letters, number, step)}"
                if (found := await self._deepest(child_id(aggregate.tenant, place))) is not None:
                    return found
        return None

    async def _deepest(self, id: Id) -> Id | None:
        """Of an instance and those it called, the one that is stuck."""
        try:
            aggregate = await self.runtime.instances.read(id, self._origin)
        except RejectedError:
            return None
        nodes = aggregate.state.nodes.values()
        if any(node.incident is not None for node in nodes):
            return id
        letters = id_text(id)
        for node in nodes:
            if node.kind == "call":
                called = child_id(aggregate.tenant, f"node:{letters}:{node.number}")
                if (found := await self._deepest(called)) is not None:
                    return found
        return None

    async def _receipt(self, receipt: Receipt) -> ReceiptView:
        call = await self._view(receipt.aggregate, has_args=False) if receipt.aggregate is not None else None
        return ReceiptView(receipt.answer, receipt.message_id, receipt.reason, call)


def dead_letter_view(letter: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(dead_letter(letter))
