"""Lint over files and before deployment: which models there are, which verbs belong to them, what the rules find."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from perdure.app.configuration.project import CONFIG_NAME, load_config
from perdure.app.processes.contract_binding import profile_of
from perdure.app.processes.contracts import contract_of
from perdure.app.processes.project_models import is_model_file, policies_beside
from perdure.bpmn.contract.policies import PolicyCatalogue
from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.lint.findings import OLDEST_RELEASE, Finding, Profile, Release, Target
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.model import Model, Scope, scopes
from perdure.bpmn.xml import read_model_file
from perdure.engine import Check
from perdure.errors import DefinitionError, ModelError, Problem, RejectedError, Rejection
from perdure.verbs import Catalogue, definition_places, load_catalogue

VERBS = (".yaml", ".yml")


class LintReport(msgspec.Struct, frozen=True):
    """What was found in which models; `contracts` names the verb of each process, or none."""

    models: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    contracts: dict[str, str | None] = {}

    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


def lint_paths(
    paths: Iterable[Path], catalogue: Catalogue | None, profile: Profile | None = "hollow", target: Target = "embedded",
    release: Release = OLDEST_RELEASE, *, is_strict: bool = False, policies: PolicyCatalogue | None = None,
) -> LintReport:  # fmt: skip
    """Lint every model among the files and folders.

    Without a catalogue, the verbs of a model are those of the YAML files named beside it, else of the project around
    it, else of the YAML files in its folder. Policies are those of `policies.yaml` beside a model, unless given.
    """
    given = list(paths)
    named = [path for path in given if path.suffix in VERBS]
    if named:
        catalogue = load_catalogue(named)
    files = list(_models(given))
    if not files:
        raise _refused(given[0] if given else Path(), "there is no model in it")
    rules = _Rules(profile, target, release, is_strict, policies)
    return _lint_all(files, _Verbs(catalogue), rules)


class _Rules(NamedTuple):
    """How models are looked at."""

    profile: Profile | None
    target: Target
    release: Release
    is_strict: bool
    policies: PolicyCatalogue | None

    def run(self, model: Model, file: Path, contract: Contract | None, others: Collection[str]) -> list[Finding]:
        profile, policies = self.profile or profile_of(model), self.policies
        if policies is None and profile == "contract":
            policies = policies_beside(file)
        return lint(
            model, profile=profile, target=self.target, contract=contract, others=others, release=self.release,
            is_strict=self.is_strict, policies=policies,
        )  # fmt: skip


def _lint_all(files: list[Path], verbs: _Verbs, rules: _Rules) -> LintReport:
    findings: list[Finding] = []
    contracts: dict[str, str | None] = {}
    models = dict(_readable_models(files, findings))
    together = {process.id for model in models.values() for process in model.definitions.executable()}
    for file, model in models.items():
        for contract in _contracts(model, verbs.beside(file), contracts):
            findings.extend(rules.run(model, file, contract, together))
    return LintReport(tuple(map(str, files)), tuple(dict.fromkeys(findings)), contracts)


def _readable_models(files: list[Path], findings: list[Finding]) -> Iterator[tuple[Path, Model]]:
    for file in files:
        try:
            yield file, _read(file)
        except ModelError as error:
            findings.extend(map(finding_of, error.problems))


def _contracts(model: Model, verbs: Catalogue, named: dict[str, str | None]) -> list[Contract | None]:
    """The contracts of the processes of a file; none at all when no verb names any of them."""
    found: list[Contract | None] = []
    for process in model.definitions.executable():
        contract = contract_of(verbs, process.id)
        named[process.id] = None if contract is None else contract.verb
        if contract is not None:
            found.append(contract)
    return found or [None]


def verbs_beside(file: Path) -> Catalogue:
    """The verbs that belong to a model: of the project around it, else of the YAML files in its folder."""
    return _Verbs(None).beside(file)


def finding_of(problem: Problem) -> Finding:
    """A problem of reading, as lint tells it."""
    return Finding(
        code=problem.code, severity=problem.severity, fact=problem.reason, hint=problem.hint, element=problem.field,
        line=problem.line, column=problem.column, file=problem.file,
    )  # fmt: skip


def lint_check(catalogue: Catalogue) -> Check:
    """The rules as a gate: what has errors is refused."""

    def check(model: Model, deployed: Deployed, contract: Any, others: Collection[str]) -> list[Problem]:
        declared = contract if isinstance(contract, Contract) else contract_of(catalogue, deployed.process.id)
        found = lint(model, profile=deployed.profile, contract=declared, others=others, knows_all=True)
        foreign = _foreign(model, deployed)
        return [problem_of(each) for each in found if each.severity != "info" and each.element not in foreign]

    return check


def _foreign(model: Model, deployed: Deployed) -> set[str]:
    """The ids of the other processes of a file: what is found there does not concern the one that is deployed."""
    others = [each for each in model.definitions.processes if each.id != deployed.process.id]
    return {each.id for each in others} | {id for each in others for scope in scopes(each.body) for id in _ids(scope)}


def _ids(scope: Scope) -> Iterator[str]:
    for each in (*scope.nodes, *scope.flows, *scope.associations, *scope.annotations):
        yield each.id


def problem_of(finding: Finding) -> Problem:
    severity: Any = "error" if finding.severity == "error" else "warning"
    return Problem(
        finding.code, finding.file, finding.line, finding.column, finding.element, finding.fact, finding.hint, severity
    )


class _Verbs:
    """The verbs of each folder, read once."""

    def __init__(self, given: Catalogue | None) -> None:
        self._given = given
        self._known: dict[Path, Catalogue] = {}

    def beside(self, file: Path) -> Catalogue:
        if self._given is not None:
            return self._given
        folder = file.resolve().parent
        if folder not in self._known:
            self._known[folder] = _project_verbs(folder) or _folder_verbs(folder)
        return self._known[folder]


def _project_verbs(folder: Path) -> Catalogue | None:
    for above in (folder, *folder.parents):
        file = above / CONFIG_NAME
        if file.is_file():
            config = load_config(file)
            return load_catalogue(definition_places(config.definitions, config.documents), config.environment)
    return None


def _folder_verbs(folder: Path) -> Catalogue:
    """The verbs of the YAML files in a folder; files that hold something else are left alone."""
    files = sorted(path for path in folder.iterdir() if path.suffix in VERBS)
    together = _readable(files)
    if together is not None:
        return together
    apart = [_readable([file]) for file in files]
    return Catalogue(verb.definition for verbs in apart if verbs is not None for verb in verbs)


def _readable(files: list[Path]) -> Catalogue | None:
    try:
        return load_catalogue(files)
    except DefinitionError:
        return None


def _models(paths: Iterable[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in paths:
        for file in _below(path):
            if file not in seen:
                seen.add(file)
                yield file


def _below(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if is_model_file(file) and file.is_file())
    if not path.exists():
        raise _refused(path, "there is no such file or folder")
    return [] if path.suffix in VERBS else [path]


def _read(file: Path) -> Model:
    try:
        return read_model_file(file)
    except OSError as error:
        raise _refused(file, str(error)) from error


def _refused(path: Path, fact: str) -> RejectedError:
    return RejectedError(Rejection("invalid", "lint", "model", str(path), fact))
