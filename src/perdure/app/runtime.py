"""The running platform: parts put together, background duties started and stopped in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from perdure.access.api_key_cache import KeyRing
from perdure.access.machine import AccessMachine
from perdure.app.calendar_checks import check_calendars
from perdure.app.channels.open_channels import OpenChannels
from perdure.app.documents.checks import VersionChecks
from perdure.app.documents.duties import DocumentDuties
from perdure.app.documents.facts import DocumentFacts
from perdure.app.documents.references import SCHEMES, DocumentReferences
from perdure.app.documents.request_answers import RequestAnswers
from perdure.app.documents.request_delivery import RequestDelivery
from perdure.app.documents.shown_documents import ShownDocuments
from perdure.app.erasure import complete_erasure
from perdure.app.feed.journal_tail import Tail
from perdure.app.instances.history_cache import InstanceHistoryCache
from perdure.app.lifecycles.fact_sources import LifecycleFacts, RunbookFacts, VerbFacts
from perdure.app.lifecycles.resolution_calls import ResolutionCallDesk
from perdure.app.lost_lease_retry import under_new_lease
from perdure.app.operations.version_locks import Guards
from perdure.app.overview.counts import Counts
from perdure.app.packs import PackOperations
from perdure.app.processes.deployment_gates import gates
from perdure.app.processes.model_review import Reviews
from perdure.app.processes.project_models import ProjectModels
from perdure.app.task_results.bus_doors import BusDoors
from perdure.app.task_results.queue_door import QueueDoor
from perdure.app.task_results.result_intake import ResultIntake
from perdure.app.tasks.task_list import TaskList
from perdure.blobs.storage_selection import open_blobs
from perdure.buses.bus_selection import Buses
from perdure.business_calendar import Calendars
from perdure.channels.webhook_settings import Hooks
from perdure.documents.machine.document_machine import DocumentMachine
from perdure.documents.machine.journal_entries import BlobScanned, VersionReceived
from perdure.engine import Check, Engine, EngineSettings, read_engine
from perdure.engines.engine_selection import open_engine
from perdure.errors import FencedError, PerdureError
from perdure.journal import Machine, Origin
from perdure.kernel.kernel import Aggregate, Kernel, Preparation, Prepared
from perdure.lifecycles.definitions import LifecycleDefinitions
from perdure.lifecycles.guards import GuardTable
from perdure.lifecycles.instances import LifecycleInstances
from perdure.lifecycles.lifecycle_reader import LifecycleFile
from perdure.lifecycles.lint import LifecycleChecks
from perdure.lifecycles.machine.definition_machine import LifecycleDefinitionMachine
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from perdure.lifecycles.recovery import NOTICES, PARENT, LifecycleRecovery
from perdure.processes.definitions import Definitions
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.kernel_machines import process_machines
from perdure.processes.plan_cache import Plans
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.completion_fan_out import FANOUT
from perdure.runbooks.executor.completion_inbox import Inbox
from perdure.runbooks.executor.recovery import Recovery
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import SECOND, Micros, Sources, SystemSources
from perdure.store.idempotent_answers import ANSWERS_KEPT
from perdure.store.ports import Driver
from perdure.store.sealer import Sealer
from perdure.store.store import Store
from perdure.telemetry import Spans, TelemetrySettings, open_spans
from perdure.typed_reading import learning
from perdure.verbs import Catalogue, HandlerRegistry
from perdure.verbs.references import RECORD, Bounds
from perdure.work.computations import Computations
from perdure.work.entity_records import RecordDesk
from perdure.work.event_loop import call_in_loop
from perdure.work.facts import Facts, RecordFacts
from perdure.work.ports import TimerFound
from perdure.work.process_lease import LEASE_SECONDS, Lease
from perdure.work.record_references import RecordReferences
from perdure.work.store_clock import StoreClock, told
from perdure.work.store_retry import retry_until_stored
from perdure.work.timers import Timers
from perdure.work.verb_router import Router
from perdure.work.worker_identity import ProcessIdentity

if TYPE_CHECKING:
    from perdure.app.task_channels.card_dispatch import CardDispatcher
    from perdure.app.telemetry import CommitObserver
    from perdure.app.telemetry.engine_gauges import EngineGauges
    from perdure.app.workflows.project_workflows import ProjectWorkflows
    from perdure.telemetry.metrics import Metrics

Role = Literal["worker", "caller", "reader"]
"""A worker keeps everything going; a caller runs its own calls; a reader runs nothing."""

DUTY_PAUSE: Micros = SECOND
CHECK_PAUSE: Micros = 30 * SECOND
RETENTION_PAUSE: Micros = 3600 * SECOND
COLLECTION_PAUSE: Micros = 6 * 3600 * SECOND
FINISH_SECONDS = 10.0
LOOK_SECONDS = 1.0

log = logging.getLogger("perdure")


def machines(plans: Plans, guards: GuardTable | None) -> Mapping[str, Machine[Any, Any, Any]]:
    """The machines by their kind."""
    with learning:
        return {
            RunbookMachine.kind: RunbookMachine(), **process_machines(plans), AccessMachine.kind: AccessMachine(),
            LifecycleMachine.kind: LifecycleMachine(guards),
            LifecycleDefinitionMachine.kind: LifecycleDefinitionMachine(),
            DocumentMachine.kind: DocumentMachine(),
        }  # fmt: skip


class Runtime:
    """Everything one process needs; made by `Perdure.open` and by the sandbox."""

    task_list = TaskList()
    """Links to human tasks in a task list elsewhere."""
    cards: CardDispatcher | None = None
    """Shows human tasks in task channels; None where a project has none."""
    _engine_gauges: EngineGauges | None = None

    def __init__(
        self,
        driver: Driver,
        catalogue: Catalogue,
        registry: HandlerRegistry,
        sources: Sources,
        *,
        role: Role = "worker",
        lease_seconds: float = LEASE_SECONDS,
        keep_seconds: float | None = None,
        sealer: Callable[[Store], Sealer] | None = None,
        identity: ProcessIdentity | None = None,
        is_driven: bool = False,
        checks: Sequence[Check] | None = None,
        guards: GuardTable | None = None,
        blobs: str = "",
        engine: str | EngineSettings = "embedded",
    ) -> None:
        """`is_driven` when someone else moves the clock and calls the duties: no threads, no background tasks."""
        self.driver = driver
        self.sources = sources
        self.role = role
        self.catalogue = catalogue
        plans = Plans()
        given = gates(catalogue) if checks is None else checks
        self.machines = machines(plans, guards)
        self.store = Store(driver, sources)
        self.kernel = Kernel(self.store, self.machines, sources)
        self.keys = KeyRing(self.kernel, sources)
        self.is_driven = is_driven
        self.clock = self._store_clock(sources)
        self.lease = Lease(
            self.store, sources, seconds=lease_seconds, identity=identity, has_thread=not is_driven, clock=self.clock
        )  # fmt: skip
        self.desk = RecordDesk(self.store, catalogue)
        self.router = Router(
            registry, self.desk.open, has_threads=not is_driven, now=sources.now, threads=self.store.agent_threads,
            breakers=self.store.agent_breakers,
        )  # fmt: skip
        self.router.register(RECORD, RecordReferences(self.desk), Bounds())
        self.conductor = CallExecutor(self.kernel, self.store, catalogue, self.router, self.lease, sources)
        self.intake = Inbox(self.conductor, sources)
        self.upkeep = Recovery(self.conductor, sources)
        self.upkeep.receive((FANOUT,), self.intake.fan_out.go_on)
        self.blobs = open_blobs(blobs, driver.url, sources.now)
        self.document_duties = DocumentDuties(self)
        self.computations = Computations(has_threads=not is_driven)
        self.definitions = Definitions(self.kernel, self.store, catalogue, plans, given, self.computations.run)
        self.conductor.agent_policy.weigh = self.definitions.consequences.of_verb
        self.instances = InstanceReader(self.kernel, self.store, self.definitions)
        self.forms = Forms(self.instances, catalogue)
        self.engines = read_engine(engine)
        self.engine: Engine = open_engine(
            self.engines, self.conductor, self.upkeep, self.store, self.instances, self.forms, sources
        )  # fmt: skip
        self.pasts, self.reviews = InstanceHistoryCache(self.instances), Reviews(catalogue, self.computations)
        self.packs = PackOperations()
        self.guards = Guards()
        self.hooks, self.buses, self.channels = Hooks(), Buses(), OpenChannels(self)
        self.counts = Counts(self.store, self.machines[RunbookMachine.kind], sources)
        self.tail = Tail(self.kernel, self.store, driver, self.machines)
        self.timers = Timers(self.store, sources, self.lease, self.upkeep.fire)
        self.sealer = sealer(self.store) if sealer is not None and role == "worker" else None
        self._keep_seconds = keep_seconds
        self._duties: list[asyncio.Task[None]] = []
        self._is_started = False
        self._wake = asyncio.Event()
        self.recovered = asyncio.Event()
        """Set once what others left behind was looked through, where that is a duty of this process."""
        self._announcing: asyncio.Task[None] | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._renewal = asyncio.Lock()
        self._elsewhere: asyncio.Future[bool] | None = None
        self._observer: CommitObserver | None = None
        self._listen()

    def _open_lifecycles(self) -> None:
        """Instances of lifecycles, the facts they ask for, and who looks after them."""
        self.facts = Facts()
        machine = self.machines[LifecycleMachine.kind]
        assert isinstance(machine, LifecycleMachine)
        definitions = LifecycleDefinitions(self.kernel, self.store)
        instances = LifecycleInstances(self.kernel, self.store, machine, definitions, self.facts, self.sources)
        answers = VerbFacts(self.conductor, self.store)
        papers = DocumentFacts(self.store.documents, self.catalogue.reasons)
        for source in (papers, RecordFacts(self.store), LifecycleFacts(instances), RunbookFacts(self.kernel), answers):
            self.facts.add(source)
        definitions.check = LifecycleChecks(self.catalogue, machine.table, self.facts).findings
        desk = ResolutionCallDesk(self.conductor, self.store)
        self.lifecycle_upkeep = LifecycleRecovery(instances, desk, is_driven=self.is_driven or self.role == "reader")
        self.upkeep.join(LifecycleMachine.kind, self.lifecycle_upkeep)
        self.upkeep.receive(NOTICES, self.lifecycle_upkeep.deliver)
        self.upkeep.adopt(PARENT, self.lifecycle_upkeep.call_ended)
        self.kernel.notice(self.lifecycle_upkeep.on_notices)
        self.lifecycles = instances
        self.results, self.result_queue = ResultIntake(self), QueueDoor(self)
        self.bus_doors: BusDoors | None = None

    def _listen(self) -> None:
        self._open_lifecycles()
        self.upkeep.wake = self._wake.set
        self.upkeep.join(DocumentMachine.kind, self.document_duties)
        self.document_duties.checks = VersionChecks(self)
        self.deliveries = RequestDelivery(self)
        self.request_answers = RequestAnswers(self, is_driven=self.is_driven or self.role == "reader")
        shown = ShownDocuments(self)
        self.lifecycles.check_cargo = shown.check
        self.instances.shown_documents = self.conductor.launcher.shown_documents = shown
        for scheme in SCHEMES:
            self.router.register(scheme, DocumentReferences(self), Bounds())
        self.kernel.hear((VersionReceived, BlobScanned), lambda aggregate, entry: self._wake.set())
        self.conductor.complete_erasure = partial(complete_erasure, self)
        self.kernel.arm(self._arm)
        self.kernel.renew, self.store.renew = self._put_again, self._renew_lost
        for kind in self.machines:
            if kind != RunbookMachine.kind:
                self.kernel.listen(self._on_commit, kind)
        if self.driver.dialect == "postgres":
            self.kernel.listen(self._tell_others)

    def _store_clock(self, sources: Sources) -> StoreClock | None:
        """The clock leases and timers are judged by; None where somebody moves it."""
        if self.driver.clock is None and sources.is_test_clock and not self.is_driven:
            log.warning("the clock of this process is moved, and the store's does not count: for demonstrations only")
        if self.driver.clock is not None or sources.is_test_clock:
            self.driver.clock = sources.now
        if not isinstance(sources, SystemSources) or sources.is_test_clock:
            return None
        return StoreClock(sources, has_own=self.driver.clock is None, changed=self._clock_changed)

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self.driver.open(creates=self.role != "reader")
        try:
            await self._read_clock()
            if self.role == "reader":
                self.recovered.set()
                return
            await self.lease.take(self._lost)
            if self.role == "worker":
                await self.lease.reap()
            await self.upkeep.publish_definitions(serves=self.role == "worker")
            await self.engine.open()
            self._begin_duties()
        except BaseException:
            await self.stop()
            raise

    @property
    def observer(self) -> CommitObserver:
        """Who measures and traces; made when first asked for, and until then nothing is spent on it."""
        if self._observer is None:
            from perdure.app.telemetry import CommitObserver  # noqa: PLC0415

            self._observer = CommitObserver(
                self.kernel, self.store, self.machines, self.catalogue, self.router, self.sources
            )  # fmt: skip
        return self._observer

    def measure(self) -> Metrics:
        """Count from now on, and give the metrics that surfaces and channels add to."""
        return self.observer.measure()

    @property
    def metrics(self) -> Metrics | None:
        """What surfaces and channels count with; None as long as nobody asked to measure."""
        return self._observer.metrics if self._observer is not None else None

    def trace(self, spans: Spans, sample: float = 1.0) -> None:
        """Emit spans from now on; they are flushed and closed at the stop."""
        self.observer.trace(spans, sample)

    def use_calendars(self, calendars: Calendars) -> None:
        """Count business days by these; refused when a verb counts by another."""
        check_calendars(self.catalogue, calendars)
        self.router.calendars = calendars

    def observe(self, settings: TelemetrySettings, exporter: Any = None) -> None:
        """Measure and trace as a project says; by default it says neither."""
        if self.role == "reader":
            return
        if settings.metrics:
            self.measure()
        if settings.traces is not None:
            self.trace(open_spans(settings.traces, exporter), settings.traces.sample)
        if settings.logs:
            self.observer.correlate()

    def open_doors(self) -> None:
        """Consume what brokers bring, and show tasks in task channels; a worker does, once it has started."""
        if self.role == "worker":
            self.bus_doors = BusDoors(self)
            self.bus_doors.start()
            if self.cards is not None:
                self.cards.start()

    async def close_doors(self) -> None:
        """Let deliveries that are under way end, and give the others back to their brokers."""
        if self.bus_doors is not None:
            await self.bus_doors.stop()
        if self.cards is not None:
            await self.cards.stop()

    async def close_channels(self) -> None:
        """Close the connections to brokers and channels, once no handler runs any more."""
        await self.buses.close()
        await self.channels.close()
        if self.cards is not None:
            await self.cards.close()

    async def scrape(self) -> bytes:
        """The text of `/metrics`."""
        if self.bus_doors is not None:
            await self.bus_doors.measure()
        if self.clock is not None:
            self.measure().clock_differs(self.clock.difference / SECOND)
        if self._engine_gauges is None:
            from perdure.app.telemetry.engine_gauges import EngineGauges  # noqa: PLC0415

            self._engine_gauges = EngineGauges(self)
        await self._engine_gauges.measure()
        return await self.observer.scrape()

    async def deploy_models(self, models: ProjectModels, origin: Origin) -> None:
        """Deploy what a project's model files hold and the store does not; other tenants get them when they call."""
        self.definitions.find_model = models.finder(self.engine, self.catalogue)
        if self.role != "reader":
            await models.deploy(self.engine, origin, self.catalogue)

    async def deploy_project(
        self, models: ProjectModels, workflows: ProjectWorkflows, lifecycles: Sequence[LifecycleFile], origin: Origin
    ) -> None:
        """Deploy what a project brings along and the store does not have."""
        await self.deploy_models(models, origin)
        await self.deploy_workflows(workflows, origin)
        await self.deploy_lifecycles(lifecycles, origin)

    async def deploy_workflows(self, workflows: ProjectWorkflows, origin: Origin) -> None:
        """Deploy every version of a project's workflows; other tenants get them when they call."""
        if not workflows.compiled or self.role == "reader":
            return
        self.definitions.find_model = workflows.finder(self, self.definitions.find_model)
        await workflows.deploy(self, origin)

    async def deploy_lifecycles(self, files: Sequence[LifecycleFile], origin: Origin) -> None:
        """Deploy the lifecycles of a project that the store does not have; other tenants get them when they ask."""
        definitions = self.lifecycles.definitions
        definitions.project = {each.definition.name: each for each in files}
        if self.role == "reader":
            return
        for file in files:
            await definitions.deploy(file, origin)

    async def _read_clock(self) -> None:
        """The store's clock counts; a machine's own may drift from it, or be set, while a process runs."""
        asked_at = self.sources.monotonic()
        if self.clock is not None and (at := await self.driver.read_clock()) is not None:
            self.clock.read(at, asked_at)

    def _clock_changed(self) -> None:
        call_in_loop(self._loop, self._mind_clock)

    def _mind_clock(self) -> None:
        """End the duties of a process whose machine tells another time than the store; begin them once it agrees."""
        assert self.clock is not None
        how = told(self.clock.difference)
        if self.clock.is_apart:
            log.error("the clock of this machine is %s; this process does no duty until they agree", how)
            for task in self._duties:
                task.cancel()
        elif self._is_started:
            log.warning("the clock of this machine is %s; this process does its duties again", how)
            self._begin_duties()

    def _begin_duties(self) -> None:
        self._is_started = True
        if self.is_driven or self.role != "worker":
            self.recovered.set()
        if self.is_driven or (self.clock is not None and self.clock.is_apart):
            return
        duties: list[Callable[[], Awaitable[None]]] = [self.timers.run]
        if self.role == "worker":
            duties += [self._look_after, self._check, self._forget]
            if self.sealer is not None:
                duties.append(self.sealer.run)
            if self._keep_seconds is not None:
                duties.append(self._retain)
            if self.catalogue.documents:
                duties.append(self._collect)
        self._duties = [each for each in self._duties if not each.done()]
        self._duties += [asyncio.create_task(self._guarded(duty)) for duty in duties]

    async def stop(self) -> None:
        """Let running attempts end, give the lease back, close. What is left is taken over by others."""
        # First those that would begin more: what is leased while the last attempts end would be left in the air.
        self._is_started = False
        for task in self._duties:
            task.cancel()
        await asyncio.gather(*self._duties, return_exceptions=True)
        self._duties = []
        await self.tail.close()
        await self.conductor.finish_jobs(FINISH_SECONDS)
        if self._engine_gauges is not None:
            await self._engine_gauges.close()
        await self.engine.close()
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        await self.engine.drain()
        await self.request_answers.drain()
        await self.lifecycle_upkeep.drain()
        await self.kernel.drain()
        await self.store.end_renewals()
        await self.conductor.finish_jobs(0)
        if self._announcing is not None:
            await asyncio.gather(self._announcing, return_exceptions=True)
        if self.lease.number:
            try:
                await self.lease.release()
            except PerdureError as error:
                log.warning("the lease could not be given back and will run out by itself: %s", error)
        if self._observer is not None:
            await self._observer.close()
        self.router.close()
        self.computations.close()
        if self._elsewhere is not None:
            self._elsewhere.cancel()
            await asyncio.gather(self._elsewhere, return_exceptions=True)
        await self.driver.close()
        await self.blobs.close()

    def store_changed(self) -> asyncio.Future[bool]:
        """Done when another process may have committed, or it is time to look anyway; shared, so do not cancel it."""
        if self._elsewhere is None or self._elsewhere.done():
            self._elsewhere = asyncio.ensure_future(self.driver.changed_elsewhere(LOOK_SECONDS))
        return self._elsewhere

    async def look_after(self) -> int:
        """One round of upkeep; returns how much was done."""
        await self.lease.reap()
        done = await self.upkeep.take_over() + await self.upkeep.deliver() + await self.engine.sweep()
        return done + await self.result_queue.drain()

    async def _look_after(self) -> None:
        while True:
            self._wake.clear()
            await self._try(self.look_after)
            self.recovered.set()
            waiting = asyncio.ensure_future(self._wake.wait())
            changed = asyncio.ensure_future(self.driver.changed_elsewhere(DUTY_PAUSE / SECOND))
            try:
                await asyncio.wait({waiting, changed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()
                changed.cancel()
                await asyncio.gather(waiting, changed, return_exceptions=True)

    async def check(self) -> None:
        """Verbs that vanished become incidents; those that came back heal; forgotten jobs are taken up."""
        await self.upkeep.heal_definitions()
        await self.upkeep.check_definitions()
        await self.upkeep.take_up_forgotten()
        await self.lease.forget_old()

    async def _check(self) -> None:
        while True:
            await self._try(self.check)
            await self.sources.sleep(CHECK_PAUSE)

    async def _retain(self) -> None:
        while True:
            await self._try(self.retain)
            await self.sources.sleep(RETENTION_PAUSE)

    async def _forget(self) -> None:
        while True:
            await self._try(self.forget)
            await self.sources.sleep(RETENTION_PAUSE)

    async def _collect(self) -> None:
        while True:
            await self.sources.sleep(COLLECTION_PAUSE)
            await self._try(self.document_duties.collect)

    async def forget(self) -> int:
        """Answers given more than a day ago are forgotten; how many were."""
        forgotten = 0
        while count := await self.store.answers.forget(self.sources.now() - ANSWERS_KEPT):
            forgotten += count
        await self.result_queue.forget()
        return forgotten

    async def retain(self) -> int:
        if self._keep_seconds is None:
            return 0
        erased = 0
        while count := await self.upkeep.erase_old(self._keep_seconds):
            erased += count
        return erased

    async def _try(self, duty: Callable[[], Awaitable[Any]]) -> None:
        number = self.lease.number
        try:
            try:
                await duty()
            except FencedError:
                await self._renew(number)
        except PerdureError as error:
            log.warning("a duty failed and will be tried again: %s", error)

    async def _guarded(self, duty: Callable[[], Awaitable[None]]) -> None:
        """A worker that stopped doing one of its duties would look healthy: the duty begins again, and it is said."""
        while True:
            try:
                await self._try(duty)
            except Exception:
                log.exception("a duty of this process broke and begins again: %s", getattr(duty, "__qualname__", duty))
            await self.sources.sleep(DUTY_PAUSE)

    def _lost(self) -> None:
        log.warning("the lease %s was taken away; taking a new one", self.lease.number)
        if self._observer is not None:
            self._observer.lease_lost()
        self._renewing = asyncio.ensure_future(self._renew_or_say(self.lease.number))

    async def _renew_or_say(self, lost: int) -> None:
        try:
            await self._renew(lost)
        except PerdureError as error:
            log.error("this process gets no other lease and can write nothing more: %s", error)

    async def _renew_lost(self, lost: FencedError) -> None:
        await self._renew(int(lost.id))

    async def _put_again(self, lost: FencedError, prepare: Preparation | Prepared) -> Preparation | Prepared | None:
        await self._renew_lost(lost)
        return under_new_lease(prepare, lost, self.lease.number)

    async def _renew(self, lost: int) -> None:
        """A new lease for one that was lost, once, however many notice; asked for until the store answers."""
        async with self._renewal:
            if self.lease.number != lost:
                return
            self.kernel.forget()
            await retry_until_stored(lambda: self.lease.take(self._lost), self.sources)
            if self.role == "worker":
                await retry_until_stored(self.upkeep.publish_definitions, self.sources)

    def _on_commit(self, aggregate: Aggregate, entries: Any) -> None:
        for job in aggregate.rows.jobs:
            if job.worker == 0:
                self._wake.set()

    def _arm(self, aggregate: Aggregate) -> None:
        for timer in aggregate.rows.timers:
            self.timers.arm(TimerFound(timer.due, aggregate.id, timer.step, timer.kind, aggregate.tenant))

    def _tell_others(self, aggregate: Aggregate, entries: Any) -> None:
        if self._announcing is None or self._announcing.done():
            self._announcing = asyncio.ensure_future(self._announce())

    async def _announce(self) -> None:
        try:
            await self.driver.announce()
        except PerdureError as error:
            log.debug("others were not told and will see it at their next look: %s", error)
