"""Writes a project: what the tool owns is written again, what people own is written once.

| file | there and as it should be | there, other | not there |
|---|---|---|---|
| tool | unchanged | rewritten; with a change by hand: refused, unless forced | new |
| people | kept | kept | new |
| kept version | unchanged | unchanged | new, from the lock's version |
| model and catalogue | unchanged | rewritten when nobody changed them here since; else refused | new |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from perdure.bpmn.contract import PolicyCatalogue, read_contract
from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_model_file
from perdure.errors import RejectedError, Rejection
from perdure.processes.policy_file import load_policies
from perdure.scaffold.compile import Compiled, compile_project, contract_digest
from perdure.scaffold.evolution import Change
from perdure.scaffold.project import LOCK_FILE, Lock, ProjectFile, header_digest, is_of_people, read_lock
from perdure.scaffold.targets.target_table import target_named

CATALOGUE = "policies.yaml"
FOLDER = "bpmn"
Fate = Literal["new", "rewritten", "unchanged", "kept", "removed"]


class WrittenFile(msgspec.Struct, frozen=True):
    path: str
    fate: Fate
    owner: str


class ScaffoldReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a scaffold wrote, or would write; `change` says how the workflow followed the one before."""

    out: str
    workflow_type: str
    version: int
    change: Change
    added: tuple[str, ...] = ()
    files: tuple[WrittenFile, ...] = ()
    is_plan: bool = False


class Project(msgspec.Struct, frozen=True):
    """A folder with a scaffold in it: its lock, its model and its catalogue."""

    folder: Path
    lock: Lock
    model: Model
    catalogue: PolicyCatalogue


def scaffold(
    target: str, model: Path, out: Path, policies: Path | None = None, *, plan: bool = False, in_place: bool = False,
    force: bool = False,
) -> ScaffoldReport:  # fmt: skip
    """Write the project of a model into a folder, or with `plan` only say what would be written."""
    before = lock_of(out)
    if before is not None and before.target != target:
        raise _refused(str(out), f"it holds a scaffold for {before.target}", "Name another folder.")
    source = policies or _catalogue_beside(model)
    inputs = _Inputs(model, source, out, before)
    compiled = compile_project(
        read_model_file(model), load_policies(source), target=target, model_path=inputs.model_path,
        catalogue_path=inputs.catalogue_path, before=before, kept=kept_modules(out, before), in_place=in_place,
    )  # fmt: skip
    found = [*inputs.files(), *compiled.files, ProjectFile(LOCK_FILE, compiled.lock.text(), "tool")]
    files = written(out, found, left_over(out, before, compiled), plan=plan, force=force)
    return ScaffoldReport(
        out=str(out), workflow_type=compiled.lock.current().type, version=compiled.lock.current().number,
        change=compiled.evolution.change, added=compiled.evolution.added,
        files=files, is_plan=plan,
    )  # fmt: skip


def written(
    out: Path, files: Sequence[ProjectFile], stale: Iterable[str], *, plan: bool, force: bool
) -> tuple[WrittenFile, ...]:
    """Write the files and remove the stale ones, unless it is only planned; the fate of each."""
    fates = [_fate(out, each, force=force) for each in files]
    removed = [WrittenFile(path, "removed", "tool") for path in stale]
    if not plan:
        for file, fate in zip(files, fates, strict=True):
            if fate.fate in ("new", "rewritten"):
                _write(out / file.path, file.text)
        for gone in removed:
            (out / gone.path).unlink()
    return tuple(sorted([*fates, *removed], key=lambda each: each.path))


def lock_of(folder: Path) -> Lock | None:
    """The lock of a project; None where nothing was scaffolded yet."""
    file = folder / LOCK_FILE
    if not file.exists():
        return None
    try:
        return read_lock(file.read_bytes())
    except (msgspec.DecodeError, OSError) as error:
        raise _refused(str(file), f"it is no lock of a scaffold: {error}", "Take it from version control.") from None


def open_project(folder: Path) -> Project:
    """A project to verify. Raises RejectedError where there is none."""
    lock = lock_of(folder)
    if lock is None:
        fact = f"it has no {LOCK_FILE}"
        raise RejectedError(
            Rejection("not_found", "verify", "project", str(folder), fact, "Scaffold it: perdure scaffold temporal …")
        )
    for path in (lock.model, lock.catalogue):
        if not (folder / path).is_file():
            raise _refused(path, "the project has no such file", "Take it from version control.")
    return Project(folder, lock, read_model_file(folder / lock.model), load_policies(folder / lock.catalogue))


def kept_modules(folder: Path, lock: Lock | None) -> list[tuple[int, str]]:
    """The modules of all versions, as they are in the folder."""
    if lock is None:
        return []
    writer = target_named(lock.target)
    paths = [(each.number, folder / writer.workflow_path(lock, each.number)) for each in lock.versions]
    return [(number, path.read_text("utf-8")) for number, path in paths if path.is_file()]


class _Inputs:
    """Model and catalogue, which live in the project: copied there from elsewhere."""

    def __init__(self, model: Path, catalogue: Path, out: Path, before: Lock | None) -> None:
        self._out = out
        self._before = before
        self._sources = {
            self._path(model, before.model if before is not None else f"{FOLDER}/{model.name}"): model,
            self._path(catalogue, before.catalogue if before is not None else f"{FOLDER}/{CATALOGUE}"): catalogue,
        }
        self.model_path, self.catalogue_path = self._sources

    def files(self) -> list[ProjectFile]:
        return [self._copied(path, source) for path, source in self._sources.items()]

    def _path(self, source: Path, usual: str) -> str:
        inside = os.path.relpath(source.resolve(), self._out.resolve())
        return usual if inside.startswith("..") else Path(inside).as_posix()

    def _copied(self, path: str, source: Path) -> ProjectFile:
        there = self._out / path
        text = source.read_bytes().decode()
        if there.exists() and not there.samefile(source) and there.read_bytes().decode() != text:
            self._refuse_changed(path, there)
        return ProjectFile(path, text, "tool")

    def _refuse_changed(self, path: str, there: Path) -> None:
        """A copy that was changed in the project is newer than what is scaffolded from."""
        if self._before is None:
            raise _refused(path, "another file is there", "Move it away or scaffold from it.")
        if path == self._before.model:
            model = read_model_file(there)
            is_same = contract_digest(model, read_contract(model)) == self._before.contract
        else:
            names = self._before.policies
            is_same = all(name in load_policies(there).names() for name in names)
        if not is_same:
            raise _refused(path, "it was changed in the project since it was copied", f"Scaffold from {there} itself.")


def _catalogue_beside(model: Path) -> Path:
    found = model.parent / CATALOGUE
    if not found.is_file():
        fact = f"there is no {CATALOGUE} beside it"
        raise RejectedError(
            Rejection("not_found", "scaffold", "model", str(model), fact, "Name the catalogue by --policies.")
        )
    return found


def _fate(out: Path, file: ProjectFile, *, force: bool) -> WrittenFile:
    there = out / file.path
    if not there.exists():
        return WrittenFile(file.path, "new", file.owner)
    if file.owner == "people":
        return WrittenFile(file.path, "kept", file.owner)
    text = there.read_bytes().decode("utf-8", "replace")
    if text == file.text or file.owner == "kept":
        return WrittenFile(file.path, "unchanged", file.owner)
    if is_of_people(file.path, text):
        return WrittenFile(file.path, "kept", "people")
    mark = header_digest(text)
    is_marked = header_digest(file.text) is not None
    if is_marked and not force and (mark is None or mark[0] != mark[1]):
        fact = "it was changed by hand" if mark is not None else "another file is there"
        raise _refused(file.path, fact, "Move the change into the model or a file of yours; --force writes over it.")
    return WrittenFile(file.path, "rewritten", file.owner)


def left_over(out: Path, before: Lock | None, compiled: Compiled) -> list[str]:
    """Files in the folder of the tool that the tool wrote and no longer writes."""
    if before is None:
        return []
    folder = target_named(before.target).generated_folder(before)
    wanted = {each.path for each in compiled.files}
    found = [path.relative_to(out).as_posix() for path in sorted((out / folder).glob("*.py"))]
    return [path for path in found if path not in wanted and header_digest((out / path).read_text("utf-8"))]


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")


def _refused(id: str, fact: str, hint: str = "") -> RejectedError:
    return RejectedError(Rejection("wrong_state", "scaffold", "file", id, fact, hint))
