"""Verify: compile in memory, compare with the folder, write nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perdure.bpmn.contract import read_contract
from perdure.errors import ModelError, Problem
from perdure.scaffold.compile import Compiled, compile_project, requests_without_wait
from perdure.scaffold.project import Target
from perdure.scaffold.targets.target_table import target_named
from perdure.scaffold.verify import drift
from perdure.scaffold.verify.bodies import check_bodies, check_checks
from perdure.scaffold.verify.determinism import check_determinism
from perdure.scaffold.verify.findings import Mismatch, VerifyReport
from perdure.scaffold.verify.histories import replay_histories
from perdure.scaffold.write import Project, kept_modules, open_project


def verify(folder: Path, histories: Path | None = None) -> VerifyReport:
    """Everything in a project that disagrees; with `histories`, recorded runs are replayed against the code."""
    project = open_project(folder)
    writer = target_named(project.lock.target)
    findings = list(_findings(project, writer))
    count = 0
    if histories is not None:
        package = (folder / writer.generated_folder(project.lock)).parent.name
        count, more = replay_histories(folder, package, histories)
        findings += more
    return VerifyReport(str(folder), tuple(findings), count)


def _findings(project: Project, writer: Target) -> Iterator[Mismatch]:
    folder, lock = project.folder, project.lock
    try:
        compiled = _compile(project, in_place=False)
    except ModelError as error:
        yield from (_broken(each, lock.model) for each in error.problems)
        return
    contract = read_contract(project.model)
    yield from drift.check_commands(compiled.evolution, lock)
    if compiled.evolution.change == "version":
        compiled = _compile(project, in_place=True)
    yield from drift.check_files(folder, compiled)
    yield from drift.check_left_over(folder, lock, writer, compiled)
    yield from drift.check_kept(folder, lock, writer)
    yield from drift.check_lock(folder, compiled)
    yield from check_bodies(folder, compiled.lock, writer, contract)
    yield from check_checks(folder, lock, writer, contract)
    yield from (_broken(each, lock.model) for each in requests_without_wait(project.model))
    package = (folder / writer.generated_folder(lock)).parent
    entries = sorted({folder / each.path for each in writer.checks(lock, contract)})
    yield from check_determinism(folder, package, entries)


def _broken(problem: Problem, path: str) -> Mismatch:
    """A rule of the profile that the model breaks."""
    fact = f"'{problem.field}': {problem.reason}"
    return Mismatch(code=problem.code, path=path, line=problem.line, fact=fact, hint=problem.hint)


def _compile(project: Project, *, in_place: bool) -> Compiled:
    lock = project.lock
    return compile_project(
        project.model, project.catalogue, target=lock.target, model_path=lock.model, catalogue_path=lock.catalogue,
        before=lock, kept=kept_modules(project.folder, lock), in_place=in_place,
    )  # fmt: skip
