"""Workflows as every surface uses them: their versions, their starts, and what their instances did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perdure.app.facade.performer import Performer
from perdure.app.facade.workflows import WorkflowDesk
from perdure.app.workflows.views import VariableView, WorkflowView
from perdure.bpmn.machine.call_activity_flags import flags_of_arguments
from perdure.engine import ProcessVersion, Until
from perdure.errors import RejectedError, Rejection
from perdure.payload import parse_digest
from perdure.verb_contract import FlagContract

if TYPE_CHECKING:
    from perdure.app.instances.views import InstanceView
    from perdure.app.processes.processes import Views
    from perdure.app.runtime import Runtime
    from perdure.app.workflows.instance_history import InstanceStory
    from perdure.bpmn.machine.deployed_process import Deployed
    from perdure.journal import Origin

LATEST = "latest"
ARM = "rollout_arm"
"""The variable that says which version a rollout chose, and by which rule."""


class Workflows(WorkflowDesk):
    """Reached as `perdure.workflows`. A version is a text, such as `1.0`; `latest` is the highest active one."""

    def __init__(self, performer: Performer, runtime: Runtime, origin: Origin, views: Views) -> None:
        super().__init__(performer)
        self._runtime, self._origin, self._views = runtime, origin, views

    async def versions(self, workflow: str) -> Sequence[WorkflowView]:
        """Every version of a workflow, the lowest first; of one version that was deployed again the newest."""
        from perdure.workflows.versions import parse_version  # noqa: PLC0415

        definitions = self._runtime.definitions
        found: dict[str, tuple[ProcessVersion, Deployed]] = {}
        for each in await definitions.versions(workflow, self._origin):
            loaded = await definitions.load(workflow, parse_digest(each.hash), self._origin.tenant)
            tag = loaded.deployed.process.version_tag
            if tag and (tag not in found or each.status == "active" or found[tag][0].status != "active"):
                found[tag] = each, loaded.deployed
        active = [tag for tag, (each, _) in found.items() if each.status == "active"]
        latest = max(active, key=parse_version, default="")
        return [
            WorkflowView(
                workflow, tag, found[tag][0].status, found[tag][0].version, found[tag][1].process.name, tag == latest,
                found[tag][0].hash, found[tag][0].deployed_at,
            )
            for tag in sorted(found, key=parse_version)
        ]  # fmt: skip

    async def get(self, workflow: str, version: str = LATEST) -> WorkflowView:
        """One version, the highest active one unless another is named."""
        known = await self.versions(workflow)
        found = [each for each in known if (each.is_latest if version == LATEST else each.version == version)]
        if found:
            return found[0]
        fact = f"it has no version '{version}'" if known and version != LATEST else "no version of it is active"
        hint = f"It has: {', '.join(f'{each.version} ({each.status})' for each in known) or 'none'}."
        raise RejectedError(Rejection("not_found", "find", "workflow", workflow, fact, hint))

    async def start(
        self, workflow: str, variables: Mapping[str, Any] | None = None, *, version: str = LATEST,
        business_key: str = "", idempotency_key: str = "", until: Until = "committed", arm: str = "",
    ) -> InstanceView:  # fmt: skip
        """Begin an instance of a version; what the version declares about its variables is checked.

        `arm` is what a rollout chose and why; it stays with the instance as the variable `rollout_arm`.
        """
        view = await self.get(workflow, version)
        definitions = self._runtime.definitions
        loaded = await definitions.load(workflow, parse_digest(view.definition), self._origin.tenant)
        carrier = self._runtime.catalogue.find(loaded.deployed.verb, _number(loaded.deployed))
        checked = carrier.check_input(variables or {}) if carrier is not None else dict(variables or {})
        if arm:
            checked = {**checked, ARM: arm}
        aggregate = await self._runtime.engine.start(
            workflow, self._origin, version=view.process_version, data=checked,
            flags=flags_of_arguments(loaded.deployed.flags, checked), business_key=business_key,
            idempotency_key=idempotency_key, until=until,
        )  # fmt: skip
        return await self._views.instance(aggregate)

    async def story(self, instance: str) -> InstanceStory:
        """Variables and executions of an instance, from its journal."""
        from perdure.app.workflows.instance_history import InstanceStory  # noqa: PLC0415

        aggregate = await self._runtime.instances.read(instance, self._origin)
        definition = await self._runtime.instances.loaded(aggregate)
        return await InstanceStory(self._runtime, aggregate, definition).read(self._origin)

    async def write(self, instance: str, name: str, value: Any, reason: str = "") -> VariableView:
        """Set a variable, once whoever asks was found to be allowed to."""
        aggregate = await self._runtime.instances.read(instance, self._origin)
        definition = await self._runtime.instances.loaded(aggregate)
        flags = followed(definition.deployed.flags, {name: value})
        await self._runtime.engine.modify(instance, self._origin, data={name: value}, flags=flags, reason=reason)
        return (await self.story(instance)).variables[name][-1]


def _number(deployed: Deployed) -> int | None:
    """The version of the verbs of a workflow, which is that of its own verb."""
    return next((each.version for each in deployed.bindings.values()), None)


def followed(flags: Sequence[FlagContract], variables: Mapping[str, Any]) -> dict[str, str | bool | int]:
    """The flags that follow variables by their names, keys left out: a wait is frozen when it opens."""
    from perdure.workflows.variables import flag_name  # noqa: PLC0415

    names = {flag.name for flag in flags if not flag.once}
    found: dict[str, str | bool | int] = {}
    for name, value in variables.items():
        inner = {(name, key): each for key, each in value.items()} if isinstance(value, Mapping) else {(name,): value}
        found |= {flag: each for path, each in inner.items() if (flag := flag_name(path)) in names and each is not None}
    return found
