"""Drop: earlier versions of a scaffolded project are taken away, with what the tool wrote for them alone.

| what | afterwards |
|---|---|
| the current version | as it was, with its number and its type |
| modules of versions that are dropped | removed; one that was changed by hand is refused |
| registry, policies, records, lock | written again for what is left |
| bodies that only they used | people's: they stay, and are named |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.scaffold.compile import Compiled, compile_project
from perdure.scaffold.project import LOCK_FILE, Lock, ProjectFile, Version, digest
from perdure.scaffold.targets.target_table import target_named
from perdure.scaffold.verify.drift import check_commands
from perdure.scaffold.write import Project, WrittenFile, kept_modules, left_over, open_project, written


class DroppedVersion(msgspec.Struct, frozen=True):
    """A workflow type that the project no longer has."""

    version: int
    workflow_type: str


class DropReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken away, or would be."""

    folder: str
    workflow_type: str
    """The one that new instances begin with, as before."""
    dropped: tuple[DroppedVersion, ...]
    warnings: tuple[str, ...]
    unused: tuple[str, ...] = ()
    """Files of people that no version uses any more."""
    files: tuple[WrittenFile, ...] = ()
    is_plan: bool = False


def drop_versions(folder: Path, numbers: Collection[int] = (), *, plan: bool = False) -> DropReport:
    """Take earlier versions away: those named, or all but the current one. With `plan`, only say what would happen."""
    project = open_project(folder)
    dropped = _chosen(project.lock, numbers)
    _check_kept(project, dropped)
    compiled = _without(project, dropped)
    found = [*compiled.files, ProjectFile(LOCK_FILE, compiled.lock.text(), "tool")]
    files = written(folder, found, left_over(folder, project.lock, compiled), plan=plan, force=False)
    return DropReport(
        folder=str(folder), workflow_type=compiled.lock.current().type,
        dropped=tuple(DroppedVersion(each.number, each.type) for each in dropped),
        warnings=tuple(map(_warning, dropped)), unused=tuple(_unused(project, compiled)), files=files, is_plan=plan,
    )  # fmt: skip


def _chosen(lock: Lock, numbers: Collection[int]) -> Sequence[Version]:
    earlier = {each.number: each for each in lock.versions[:-1]}
    for number in numbers:
        if number == lock.current().number:
            raise _refused(f"version {number}", "it is the current version", "New instances begin with it.")
        if number not in earlier:
            listed = ", ".join(map(str, earlier)) or "none"
            raise _refused(f"version {number}", "the project has no such version", f"Earlier versions: {listed}.")
    if not earlier:
        raise _refused(lock.current().type, "it has no earlier version", "There is nothing to drop.")
    return [earlier[number] for number in sorted(set(numbers) or earlier)]


def _check_kept(project: Project, dropped: Sequence[Version]) -> None:
    """What people changed in a module of the tool is not thrown away unasked."""
    writer = target_named(project.lock.target)
    for version in dropped:
        path = writer.workflow_path(project.lock, version.number)
        there = project.folder / path
        if there.is_file() and digest(there.read_text("utf-8")) != version.content:
            raise _refused(path, "it was changed since it was kept", "Take it from version control, or delete it.")


def _without(project: Project, dropped: Sequence[Version]) -> Compiled:
    """The project in memory without these versions; refused when model and lock disagree about the current one."""
    lock, gone = project.lock, {each.number for each in dropped}
    left = tuple(each for each in lock.versions if each.number not in gone)
    used = {type for each in left for type in each.program.bindings.values()}
    before = msgspec.structs.replace(
        lock,
        versions=left,
        queue=lock.first_type if left[0].type != lock.first_type else "",
        functions={type: name for type, name in lock.functions.items() if type in used},
    )
    kept = [(number, text) for number, text in kept_modules(project.folder, lock) if number not in gone]
    compiled = compile_project(
        project.model, project.catalogue, target=lock.target, model_path=lock.model, catalogue_path=lock.catalogue,
        before=before, kept=kept,
    )  # fmt: skip
    for each in check_commands(compiled.evolution, lock):
        raise _refused(each.path, each.fact, "Scaffold again first; then drop what is earlier.")
    return compiled


def _unused(project: Project, compiled: Compiled) -> list[str]:
    writer = target_named(project.lock.target)
    gone = [type for type in project.lock.functions if type not in compiled.lock.functions]
    paths = [writer.body_path(project.lock, type) for type in gone]
    return [path for path in paths if (project.folder / path).is_file()]


def _warning(version: Version) -> str:
    count = f"temporal workflow count --query \"WorkflowType='{version.type}' AND ExecutionStatus='Running'\""
    return (
        f"Instances of {version.type} (version {version.number}) that still run have no code any more, and its "
        f"histories no longer replay. Count those that run: {count}"
    )


def _refused(id: str, fact: str, hint: str) -> RejectedError:
    return RejectedError(Rejection("wrong_state", "drop", "version", id, fact, hint))
