"""Workflows that a project brings along: their verbs join the catalogue, their models are deployed with them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perdure.bpmn.machine.aggregate_ids import process_id
from perdure.errors import DefinitionError, Problem
from perdure.journal import Origin
from perdure.payload import canonical, digest
from perdure.verbs import Catalogue, HandlerRegistry
from perdure.verbs.definition import same_verb_name

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime
    from perdure.bpmn.lint.findings import Profile
    from perdure.workflows.compiler import CompiledWorkflow

MARK = "workflow"
"""Among the notes of a verb: the workflow that it belongs to."""
Find = Callable[[str, Origin], Awaitable[None]]


class ProjectWorkflows:
    """Every version of every workflow, lower versions first: what is deployed last is what callers of the verb get."""

    def __init__(self, compiled: Iterable[CompiledWorkflow] = ()) -> None:
        self.compiled = sorted(compiled, key=lambda each: (each.id, _order(each.version)))
        self._check()

    @classmethod
    def load(cls, given: Sequence[Any]) -> ProjectWorkflows:
        """Workflows, registries of them, files, and folders of files."""
        if not given:
            return cls()
        from perdure.workflows.files import load_workflows  # noqa: PLC0415  only who has workflows needs it

        return cls([each.compile() for each in load_workflows(given)])

    def extend(self, catalogue: Catalogue) -> Catalogue:
        """The catalogue with the verbs of every version; a name that another verb has is refused."""
        if not self.compiled:
            return catalogue
        own = [verb.definition for verb in catalogue.every_version()]
        ours = {each.metadata.get(MARK) for each in own} & {each.id for each in self.compiled}
        own = [each for each in own if each.metadata.get(MARK) not in ours]  # they were put in before
        known = {same_verb_name(each.name): each for each in own}
        added = [verb for each in self.compiled for verb in each.verbs]
        problems = [
            Problem(
                "workflow.verb", verb.file, verb.line, 1, verb.name, "a verb of the project has that name",
                "Give the workflow another id.",
            )
            for verb in added
            if same_verb_name(verb.name) in known
        ]  # fmt: skip
        if problems:
            raise DefinitionError(problems)
        from perdure.app.workflows.shared_variables import added as shared_variables  # noqa: PLC0415  as above

        shared, entities = shared_variables(catalogue)
        verbs = [*own, *shared, *added]
        return Catalogue(verbs, entities, catalogue.definitions, catalogue.documents, catalogue.reasons)

    def handlers(self, given: Sequence[str] | Mapping[str, Any], catalogue: Catalogue) -> HandlerRegistry:
        """The handlers of the project; the code of each version of a workflow is that of its verbs in that version."""
        packages, bound = ((), given) if isinstance(given, Mapping) else (given, {})
        registry = HandlerRegistry.collect(list(packages), catalogue, bound)
        if self.compiled:
            from perdure.app.workflows.shared_variables import bind  # noqa: PLC0415  as above

            bind(catalogue, registry)
        for each in self.compiled:
            for name, handler in each.handlers.items():
                registry.bind(name, handler, each.number)
        return registry

    async def deploy(self, runtime: Runtime, origin: Origin, only: str = "") -> None:
        """Every version that the store does not have; what was deprecated or retired stays so."""
        wanted = self._reached(only) if only else {each.id for each in self.compiled}
        for each in self._called_first():
            if each.id in wanted:
                await _deploy(runtime, each, origin, wanted)

    def finder(self, runtime: Runtime, before: Find | None) -> Find:
        """Deploys a workflow for a tenant that calls for it first."""

        async def find(process: str, origin: Origin) -> None:
            if before is not None:
                await before(process, origin)
            await self.deploy(runtime, origin, process)

        return find

    def _calls(self, id: str) -> list[str]:
        """The workflows that any version of a workflow calls."""
        return [name for each in self.compiled if each.id == id for name in each.calls]

    def _reached(self, id: str) -> set[str]:
        """A workflow with everything that it calls, directly or not."""
        found: set[str] = set()
        open = [id]
        while open:
            name = open.pop()
            if name not in found:
                found.add(name)
                open += self._calls(name)
        return found

    def _called_first(self) -> list[CompiledWorkflow]:
        """What is called is deployed before whoever calls it; in a circle, any is the first."""
        ranked = {each.id: len(self._reached(each.id)) for each in self.compiled}
        return sorted(self.compiled, key=lambda each: (ranked[each.id], each.id, _order(each.version)))

    def _check(self) -> None:
        seen: dict[tuple[str, int], CompiledWorkflow] = {}
        for each in self.compiled:
            other = seen.setdefault((each.id, each.number), each)
            if other is not each:
                verb, known = each.carrier, other.carrier
                fact = f"there are two workflows of version {each.version}; the other is at {known.file}:{known.line}"
                hint = "Give one of them another version."
                raise DefinitionError([Problem("workflow.version", verb.file, verb.line, 1, each.id, fact, hint)])


async def _deploy(runtime: Runtime, compiled: CompiledWorkflow, origin: Origin, along: set[str]) -> None:
    from perdure.app.processes.contracts import contract_of_verb  # noqa: PLC0415
    from perdure.processes.verb_bindings import bind, carried_by  # noqa: PLC0415

    verbs = Catalogue(compiled.verbs)
    carrier = verbs.get(compiled.id)
    definitions = compiled.model.definitions
    profile: Profile = "open" if compiled.calls else "hollow"
    deployed = bind(definitions, definitions.processes[0], profile, carried_by(carrier), verbs)
    state = await runtime.definitions.state(process_id(origin.tenant, compiled.id), origin)
    known = state.with_hash(digest(canonical(deployed.content))) if state is not None else None
    if known is not None:
        return
    contract = contract_of_verb(verbs, carrier)
    judged = await runtime.definitions.judge(
        compiled.model, origin, process=compiled.id, profile=profile, contract=contract, deployed=deployed, along=along
    )  # fmt: skip
    await runtime.engine.enter(judged, origin)


def _order(version: str) -> Any:
    from perdure.workflows.versions import parse_version  # noqa: PLC0415

    return parse_version(version)
