"""`Perdure`: every operation of the platform, the same ones that all surfaces use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from perdure.access.server_secret import load_or_create_secret
from perdure.app.access.api_keys import KeyOperations
from perdure.app.access.data_verbs import DataVerbs
from perdure.app.audit.seal_key import sealer_for
from perdure.app.calls.call_journal import follow as follow_events
from perdure.app.calls.outcome_wait import is_ended, wait_for
from perdure.app.calls.view_builder import CallViews
from perdure.app.calls.views import CallView, EventView, ReceiptView
from perdure.app.channels.open_channels import OpenChannels
from perdure.app.configuration.definitions import load_definitions, load_models, load_project_lifecycles
from perdure.app.configuration.project import DEFAULT_STORE, KEEP_SECONDS, SEAL_SECONDS, Config
from perdure.app.documents.documents import Documents
from perdure.app.documents.local_documents import LocalDocuments
from perdure.app.documents.verbs import DocumentVerbs, with_document_verbs
from perdure.app.entity_lookup import MatchView, look_up
from perdure.app.execution_mode import modes_of
from perdure.app.facade.calls import CallDesk
from perdure.app.facade.deployments import DeploymentDesk
from perdure.app.facade.lifecycles import LifecycleDesk
from perdure.app.facade.lists import Listing
from perdure.app.facade.messages import MessageDesk
from perdure.app.facade.performer import LocalPerformer
from perdure.app.feed.feed import Feed
from perdure.app.lifecycles.lifecycles import LifecycleOperations
from perdure.app.lists.list_rows import DeadLetterItem
from perdure.app.lists.lists import Lists
from perdure.app.operations.events import FollowOutcomes
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.app.outcomes.stream import outcome_events as read_outcomes
from perdure.app.packs import PackOperations, pack_places
from perdure.app.processes.processes import InstanceOperations, Processes, Views
from perdure.app.processes.project_models import ProjectModels, default_places
from perdure.app.project_functions import ProjectFunctions
from perdure.app.reference_resolvers import Resolvers, register_resolvers
from perdure.app.runbooks.runbooks import RunbookOperations
from perdure.app.runbooks.view_builder import RunbookViews
from perdure.app.runtime import Role, Runtime
from perdure.app.task_channels.card_dispatch import open_cards, with_card_verb
from perdure.app.task_results.verbs import WorkflowVerbs, with_workflow_verb
from perdure.app.tasks.task_list import task_list as external_task_list
from perdure.app.tasks.tasks import TaskOperations
from perdure.app.wait_permissions import WaitPermissions, letter_of
from perdure.app.webhooks.dispatch import WebhookDispatcher, with_delivery_verb
from perdure.app.workflows.project_workflows import ProjectWorkflows
from perdure.app.workflows.workflows import Workflows
from perdure.buses.bus_selection import Buses
from perdure.buses.bus_settings import BusSettings
from perdure.business_calendar import Calendars
from perdure.channels.channel_settings import ChannelSettings
from perdure.channels.task_channel_settings import TaskChannelSettings
from perdure.channels.webhook_settings import Hooks
from perdure.engine import EngineSettings
from perdure.errors import RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.lifecycles.guards import GuardKind
from perdure.lifecycles.guards.project_guards import project_guards, readable_guards
from perdure.lifecycles.loader import default_places as lifecycle_places
from perdure.runbooks.executor.call_executor import SETTLED
from perdure.runbooks.executor.completion_inbox import Completion, CompletionStatus, Receipt
from perdure.sources import Sources, SystemSources
from perdure.store.driver_selection import open_driver
from perdure.telemetry import TelemetrySettings
from perdure.verb_contract import FailureClass
from perdure.verbs import Catalogue, HandlerRegistry
from perdure.work.secrets import Secret, Secrets

MAX_LISTED = 1000
POLL_SECONDS = 1.0


class Perdure(CallDesk, MessageDesk):
    """An open store with its verbs. Made by `Perdure.open(...)`; every operation is safe to repeat."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        check_key("act for", "tenant", origin.tenant)
        self.runtime = runtime
        self.catalogue: Catalogue = runtime.catalogue
        self._origin = origin
        self._views = Views(runtime)
        modes = modes_of(self.catalogue)
        self._calls = CallViews(
            runtime.kernel, runtime.store, origin, self._views.carrier, runtime.conductor.texts.sentence, modes,
            runtime.task_list.of_step,
        )  # fmt: skip
        self._view = self._calls.view
        performer = LocalPerformer(self)
        super().__init__(performer)
        self.processes = Processes(runtime, origin)
        self.deployments = DeploymentDesk(performer)
        self.instances = InstanceOperations(performer, runtime, origin, self._views)
        self.workflows = Workflows(performer, runtime, origin, self._views)
        self._runbook_views = RunbookViews(runtime, origin, self._views)
        self.runbooks = RunbookOperations(performer, runtime, origin, self._runbook_views)
        self.tasks = TaskOperations(performer, runtime, origin, self._views, self._runbook_views)
        self.lifecycle_operations = LifecycleOperations(runtime, origin)
        self.lifecycles = LifecycleDesk(performer)
        self.waits = WaitPermissions(runtime, origin)
        self.data_verbs = DataVerbs(runtime, origin)
        self.feed = Feed(runtime, origin)
        self.access = KeyOperations(runtime, origin)
        self.packs: PackOperations = runtime.packs
        self._lists = Lists(runtime, origin, self.tasks, self._views, self.data_verbs)
        self.listing = Listing(performer)
        self._documents = Documents(runtime, origin)
        self.documents = LocalDocuments(performer, self._documents)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str = DEFAULT_STORE,
        *,
        definitions: Sequence[str | Path] | str | Path | Catalogue = (),
        models: Sequence[str | Path] | None = None,
        documents: Sequence[str | Path] | None = None,
        lifecycles: Sequence[str | Path] | None = None,
        guards: Sequence[GuardKind | str] = (),
        packs: Sequence[str | Path] = (),
        workflows: Sequence[Any] = (),
        functions: Sequence[Any] = (),
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
        secrets: Mapping[str, Secret] | None = None,
        resolvers: Resolvers | None = None,
        calendars: Calendars | None = None,
        blobs: str | Path = "",
        engine: str | EngineSettings = "embedded",
        task_list: str = "",
        bus: BusSettings | None = None,
        channels: ChannelSettings | None = None,
        task_channels: Sequence[TaskChannelSettings] = (),
        secret_file: Path | None = None,
        public_url: str = "",
    ) -> AsyncIterator[Perdure]:
        """Open a store, bring its schema up to date, take a lease and begin to work.

        `handlers` names importable packages, or maps verb names to functions and agents. `models` are model files or
        folders of them, by default the folder `models` beside the definitions; what changed in them is deployed. So are
        `lifecycles`, by default the folder of that name beside the definitions; `guards` are kinds of guard of your
        own, or importable packages with some. `documents` are files or folders with document types and rejection
        reasons, by default the folder of that name beside the definitions; a catalogue has its own. A
        `worker` looks after timers, retries and abandoned work; a `caller` only after its own calls; a `reader` runs
        nothing. Nothing is measured or traced unless `telemetry` says so; `span_exporter` is any of OpenTelemetry's,
        in place of OTLP over HTTP. `hooks` says who sends signed messages, and whom a worker tells what happened.
        `secrets` are what handlers get by name from `call.secret`, and nothing keeps. `resolvers`
        fetch references by their scheme for `call.resolve`: functions that take a `Wanted`, or settings.
        `calendars` count business days.
        `blobs` is the folder that files of documents are kept in, by default beside the store. `task_list` is the
        address of a human task in a task list elsewhere, `https://tasks.example.org/{key}`.
        `bus` names brokers; one is connected when it is first used, and a worker takes in the task results they bring.
        `engine` carries processes: `embedded`, `temporal://host:7233/namespace` or `camunda://host:8080`; several do,
        by process and by tenant, as `EngineSettings` of `perdure.engine` say.
        `channels` are the ways by which documents are asked for. The links that they carry lead to `public_url`, with
        tokens that the secret in `secret_file` signs: the one of the servers.
        `workflows` are processes written in Python or YAML: themselves, files, or folders of files. `functions` are
        verbs declared by `@durable` and `@sync`: functions, modules, Python files, or folders of them. `task_channels`
        are places outside where people look for human tasks and answer them, such as issues of a repository.
        """
        if hooks is not None:
            hooks.check()
        declared = ProjectFunctions.load(functions if role != "reader" else ())
        catalogue = declared.extend(load_definitions(definitions, environment, documents))
        tells = hooks is not None and bool(hooks.leaving)
        catalogue = with_document_verbs(with_card_verb(with_delivery_verb(catalogue, tells), bool(task_channels)))
        project = load_models(definitions, models) if role != "reader" else ProjectModels([])
        table = project_guards(guards) if role != "reader" else readable_guards(guards)
        guarded = load_project_lifecycles(definitions, lifecycles, table) if role != "reader" else []
        catalogue = with_workflow_verb(catalogue, bool(guarded))
        brought = ProjectWorkflows.load(workflows if role != "reader" else ())
        catalogue = brought.extend(catalogue)
        registry = declared.bind(brought.handlers(handlers, catalogue) if role != "reader" else HandlerRegistry())
        time = sources or SystemSources()
        runtime = Runtime(
            open_driver(url), catalogue, registry, time, role=role, keep_seconds=keep_seconds,
            sealer=sealer_for(url, seal_key_file, time, seal_every_seconds), blobs=str(blobs), guards=table,
            engine=engine,
        )  # fmt: skip
        DocumentVerbs(runtime).bind(registry)
        WorkflowVerbs(runtime).bind(registry)
        runtime.observe(telemetry or TelemetrySettings(), span_exporter)
        runtime.packs = PackOperations([Path(each) for each in packs])
        runtime.hooks = hooks or Hooks()
        runtime.task_list = external_task_list(task_list)
        runtime.buses = Buses(bus)
        if channels is not None and channels.ways:
            signs = secret_file is not None and role != "reader"
            secret = load_or_create_secret(secret_file) if signs and secret_file is not None else b""
            runtime.channels = OpenChannels(runtime, channels, secret=secret, public_url=public_url)
        runtime.router.secrets = Secrets(secrets)
        if role != "reader":
            register_resolvers(runtime, registry, resolvers or {})
            runtime.use_calendars(calendars or Calendars())
        runtime.cards = open_cards(cls(runtime, Origin(tenant)), task_channels if role != "reader" else (), registry)
        telling = WebhookDispatcher(runtime, runtime.hooks, registry) if tells and role == "worker" else None
        await runtime.start()
        try:
            await runtime.deploy_project(project, brought, guarded, Origin(tenant, principal))
            if telling is not None:
                telling.start()
            runtime.open_doors()
            yield cls(runtime, Origin(tenant, principal, groups=tuple(groups)))
        finally:
            await runtime.close_doors()
            if telling is not None:
                await telling.stop()
            await runtime.stop()
            await runtime.close_channels()

    @classmethod
    def from_config(cls, config: Config, **changes: Any) -> Any:
        """`open` with the settings of a `perdure.yaml`."""
        settings: dict[str, Any] = {
            "definitions": config.definitions, "handlers": config.handlers,
            "models": config.models if config.models is not None else default_places(config.definitions),
            "lifecycles": config.lifecycles if config.lifecycles is not None else lifecycle_places(config.definitions),
            "documents": config.documents, "guards": config.guards,
            "environment": config.environment, "packs": pack_places(config), "workflows": config.workflows,
            "functions": config.functions,
            "keep_seconds": config.keep_seconds, "seal_key_file": config.seal_key_file,
            "seal_every_seconds": config.seal_every_seconds, "telemetry": config.telemetry,
            "hooks": config.hooks, "secrets": config.secrets, "resolvers": config.resolvers,
            "calendars": config.calendars, "blobs": config.blobs, "bus": config.bus, "task_list": config.task_list,
            "engine": config.engine, "task_channels": config.task_channels,
            "channels": config.channels, "secret_file": config.server.secret_file,
            "public_url": config.server.public_url,
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
        behind: Sequence[str] | None = None,
        key: str = "",
    ) -> Self:
        """The same store on behalf of someone else; every command carries who asked.

        `groups` are those the principal belongs to: you vouch for them, and human tasks rely on it. Another principal
        belongs to none unless you say so. `behind` are people the principal acts for, as who made their key: where four
        eyes are needed, they and the principal count as one. `key` is the id of the key they act by, which the
        journal keeps.
        """
        before = self._origin
        origin = Origin(
            before.tenant if tenant is None else tenant,
            before.principal if principal is None else principal,
            before.trace if trace is None else trace,
            tuple(groups) if groups is not None else before.groups if principal is None else (),
            tuple(behind) if behind is not None else before.behind if principal is None else (),
            key or (before.key if principal is None else ""),
        )
        return type(self)(self.runtime, origin)

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
            aggregate = await wait_for(self.runtime, self._origin, aggregate.id, should_end, timeout_seconds)
        return await self._view(aggregate)

    async def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The call's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        async for event in follow_events(self.runtime, self._origin, id, after, follow):
            yield event

    async def outcome_events(
        self, id: str, *, after: str = "", step: int = 0, follow: bool = False
    ) -> AsyncIterator[OutcomeEvent]:
        """What became of a call, or of the steps of a runbook, in the words of the table of outcome events.

        Oldest first, after a cursor, of one step or of all; with `follow`, what is still to come as well until it ends.
        """
        asked = FollowOutcomes(id, step, after)
        async for event in read_outcomes(self.runtime, self._origin, asked, follow=follow):
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

    async def letter(self, message_id: str) -> DeadLetterItem:
        """A dead letter with all it brings."""
        return await letter_of(self.runtime, self._origin, message_id)

    # --- lists ---------------------------------------------------------------------------------------------------

    async def parked(self, *, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """What waits, oldest first; `number` of the last is the `after` of the next page."""
        return await self._calls.parked(after, limit)

    async def look_up(self, entity: str, text: str, limit: int = 20) -> list[MatchView]:
        """Records of a declared entity that a name may mean, exact ones first; at most 2,000 are looked at."""
        origin = self._origin
        return await look_up(
            self.runtime.desk, self.catalogue.entities, origin.tenant, origin.principal, entity, text, limit
        )

    def metrics(self) -> dict[str, int]:
        """Counters of this process."""
        return {"commits": self.runtime.driver.commits, "lease": self.runtime.lease.number}

    # --- inside --------------------------------------------------------------------------------------------------

    async def _receipt(self, receipt: Receipt) -> ReceiptView:
        call = await self._view(receipt.aggregate, has_args=False) if receipt.aggregate is not None else None
        return ReceiptView(receipt.answer, receipt.message_id, receipt.reason, call)
