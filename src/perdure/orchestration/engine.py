"""`WorkflowEngine`: loads workflows, opens the store when it is first needed, starts and finishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from perdure.app import Perdure
from perdure.app.instances.views import InstanceView
from perdure.app.tasks.views import TaskView
from perdure.app.workflows.shared_variables import HISTORY, SET, views_of
from perdure.errors import CallFailedError, RejectedError, Rejection
from perdure.orchestration.instance import ProcessVariable, WorkflowInstance
from perdure.orchestration.message_bus import Message, MessageBus
from perdure.workflows.context import GLOBAL
from perdure.workflows.files import workflows_in
from perdure.workflows.registry import LATEST, WorkflowRegistry
from perdure.workflows.workflow import Workflow

FOLDERS = ("workflows",)


class WorkflowEngine:
    """Thin: a `Perdure` with the workflows of a registry. It opens when it is first asked for something.

    `folders` are where workflow files may lie. `open` is what opens the store, `Perdure.open` unless tests give
    `Sandbox.open`; `options` go to it. `perdure` is one that is open already, with its workflows.
    """

    def __init__(
        self,
        message_bus: MessageBus | None = None,
        store: str = "",
        *,
        registry: WorkflowRegistry | None = None,
        folders: Sequence[str | Path] = FOLDERS,
        open: Callable[..., Any] = Perdure.open,
        perdure: Perdure | None = None,
        **options: Any,
    ) -> None:
        self.message_bus = message_bus
        self.registry = registry or WorkflowRegistry()
        self._folders = [Path(each).resolve() for each in folders]
        self._store, self._opens, self._options = store, open, options
        self._perdure, self._stack = perdure, AsyncExitStack()

    # --- workflows -----------------------------------------------------------------------------------------------

    def load_workflow(self, path: str | Path) -> list[Workflow]:
        """Register the workflows of a Python or YAML file in one of the folders."""
        file = Path(path).resolve()
        if not any(file.is_relative_to(folder) for folder in self._folders):
            named = ", ".join(str(each.name) for each in self._folders)
            fact, hint = f"it is in none of the folders {named}", "Give folders=[…] to the engine."
            raise RejectedError(Rejection("forbidden", "load", "workflow", str(path), fact, hint))
        return [self.register(each) for each in workflows_in(file)]

    def register(self, workflow: Workflow) -> Workflow:
        """Add a workflow, before the engine is first asked for something."""
        if self._perdure is not None:
            fact = "the engine is open, and its verbs are fixed"
            hint = "Register every workflow before the first start."
            raise RejectedError(Rejection("wrong_state", "register", "workflow", workflow.id, fact, hint))
        if self.registry.list_versions(workflow.id) and self._is_known(workflow):
            return workflow
        return self.registry.register(workflow)

    def _is_known(self, workflow: Workflow) -> bool:
        return any(each is workflow for each in self.registry)

    # --- open and close ------------------------------------------------------------------------------------------

    async def open(self) -> Perdure:
        """The platform below, opened now if it was not; statuses of the registry hold from then on."""
        if self._perdure is None:
            places = (self._store,) if self._store else ()
            opened = self._opens(*places, workflows=[self.registry], **self._options)
            perdure: Perdure = await self._stack.enter_async_context(opened)
            self._perdure = perdure
            await self._apply_statuses(perdure)
        return self._perdure

    async def _apply_statuses(self, perdure: Perdure) -> None:
        for workflow, version, status in self.registry.statuses():
            view = await perdure.workflows.get(workflow, version)
            if view.status == "active" and status == "deprecated":
                await perdure.processes.deprecate(workflow, view.process_version)
            if view.status != "retired" and status == "retired":
                await perdure.processes.retire(workflow, view.process_version)

    async def close(self) -> None:
        if self.message_bus is not None:
            await self.message_bus.close()
        await self._stack.aclose()
        self._perdure = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- work ----------------------------------------------------------------------------------------------------

    async def start_workflow(
        self, workflow_id: str, version: str = "", variables: Mapping[str, Any] | None = None, *,
        business_key: str = "", idempotency_key: str = "",
    ) -> WorkflowInstance:  # fmt: skip
        """Begin an instance: of the version named, or the one the rollout gives to its business key, or the latest.

        Under one idempotency key it begins once, and in one version, however often it is asked for.
        """
        perdure = await self.open()
        arm = ""
        if not version and self.registry.has_rollout(workflow_id):
            chosen = self.registry.choose(workflow_id, business_key or idempotency_key, variables)
            version, arm = chosen.version, f"{chosen.version}: {chosen.rule}"
        view = await perdure.workflows.start(
            workflow_id, variables, version=version or LATEST, business_key=business_key,
            idempotency_key=idempotency_key, arm=arm,
        )  # fmt: skip
        return await self._handle(perdure, view)

    async def instance(self, instance_id: str) -> WorkflowInstance:
        """A handle on an instance that was started before."""
        perdure = await self.open()
        return await self._handle(perdure, await perdure.instances.get(instance_id))

    async def _handle(self, perdure: Perdure, view: InstanceView) -> WorkflowInstance:
        versions = await perdure.workflows.versions(view.process)
        found = [each.version for each in versions if each.process_version == view.version]
        return WorkflowInstance(perdure, view, found[0] if found else "")

    async def tasks(self, **wanted: Any) -> Sequence[TaskView]:
        """Open tasks of people; `assignee=`, `group=` and what else `perdure.tasks.list` takes."""
        perdure = await self.open()
        found: Sequence[TaskView] = await perdure.tasks.list(**wanted)
        return found

    async def complete_task(self, key: str, by: str, groups: Sequence[str] = (), **answer: Any) -> None:
        """Answer a task as a person: `await engine.complete_task(key, by="ada", approved=True, comment="…")`."""
        perdure = await self.open()
        await perdure.acting(principal=by, groups=groups).tasks.complete(key, answer)

    async def set_variable(
        self, name: str, value: Any, *, workflow_id: str = "", actor: str = "", version: int | None = None
    ) -> int:
        """Set a global variable, or one of a workflow, and give the new version; `version` is the one it replaces."""
        perdure = await self.open()
        acting = perdure.acting(principal=actor) if actor else perdure
        args = {"name": name, "value": value, "owner": workflow_id or GLOBAL}
        if version is not None:
            args["version"] = version
        written = await acting.result(SET, args)
        return int(written["version"])

    async def get_variable(self, name: str, default: Any = None, *, workflow_id: str = "") -> Any:
        """A global variable, or one of a workflow, as it is now."""
        history = await self.get_variable_history(name, workflow_id=workflow_id)
        return history[-1].value if history else default

    async def get_variable_history(self, name: str, *, workflow_id: str = "") -> Sequence[ProcessVariable]:
        """Every version of a global variable, or of one of a workflow."""
        perdure = await self.open()
        try:
            found = await perdure.result(HISTORY, {"name": name, "owner": workflow_id or GLOBAL})
        except CallFailedError as error:
            if error.data["error"].code == "not_found":
                return []
            raise
        return views_of(found)

    async def start_workflow_on_event(self, trigger_pattern: str, workflow_id: str) -> None:
        """Begin an instance for every message whose topic matches: one for each message id, however often it comes.

        What the message carries are the variables.
        """
        if self.message_bus is None:
            fact, hint = "the engine has no message bus", "Write WorkflowEngine(MessageBus(…))."
            raise RejectedError(Rejection("wrong_state", "start", "workflow", workflow_id, fact, hint))
        await self.open()

        async def handle(message: Message) -> None:
            await self.start_workflow(
                workflow_id, variables=message.data, business_key=message.key or message.id,
                idempotency_key=f"{workflow_id}/{message.id}",
            )  # fmt: skip

        await self.message_bus.subscribe(topic=trigger_pattern, handler=handle, consumer_group=f"start-{workflow_id}")
