"""Runs the rules over a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from perdure.bpmn.contract.compilation import compiled_model
from perdure.bpmn.contract.mirrors import Mirror
from perdure.bpmn.contract.policies import PolicyCatalogue
from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.lint.deduplication import told_once
from perdure.bpmn.lint.findings import OLDEST_RELEASE, Finding, Note, Profile, Release, Severity, Target
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.parse_findings import broken
from perdure.bpmn.lint.rules import RULES
from perdure.bpmn.model import Model, Place, Process

_ORDER = {"error": 0, "warning": 1, "info": 2}


def lint(
    model: Model, *, profile: Profile = "hollow", target: Target = "embedded", contract: Contract | None = None,
    others: Collection[str] = (), knows_all: bool = False, release: Release = OLDEST_RELEASE,
    is_strict: bool = False, policies: PolicyCatalogue | None = None,
) -> list[Finding]:  # fmt: skip
    """Everything the rules find in the executable processes, in the order of the file.

    Rules that need a contract are silent without one, and about the processes of a file that it is not about. `others`
    are other processes that may be called, and with `knows_all` no more than these, of the same file as well.
    `release` is that of Camunda 8, where it is the target. `is_strict` takes the contract profile in its narrower
    reading, and with `policies` every `policyRef` has to be one of them.
    """
    found = list(broken(model))
    written = model
    if profile == "contract":
        model, mirrors = compiled_model(model)
        contract = _with_mirrors(contract, mirrors)
    for processes, declared in _parts(model, contract):
        index = Index(model, processes, profile, target, declared, others, knows_all, release)
        index.written, index.is_strict, index.policies = written, is_strict, policies
        found.extend(_findings(index))
    return sorted(told_once(dict.fromkeys(found)), key=_place)


def _parts(model: Model, contract: Contract | None) -> list[tuple[list[Process], Contract | None]]:
    processes = list(model.definitions.executable())
    name = "" if contract is None else contract.process
    others = [process for process in processes if process.id != name]
    if not others or len(others) == len(processes):
        return [(processes, contract)]
    return [([process for process in processes if process.id == name], contract), (others, None)]


def _with_mirrors(contract: Contract | None, mirrors: Mapping[str, tuple[Mirror, ...]]) -> Contract | None:
    """What a verb declares, with the flags that follow the state."""
    if contract is None:
        return None
    made = tuple(each.contract(()) for each in mirrors.get(contract.process, ()))
    return replace(contract, flags=(*contract.flags, *made))


def has_errors(findings: list[Finding]) -> bool:
    """Whether anything found stops a deployment."""
    return any(finding.severity == "error" for finding in findings)


def _findings(index: Index) -> Iterator[Finding]:
    for rule in RULES:
        severity = rule.SEVERITIES.of(index.profile, index.target)
        if severity is not None:
            yield from (_finding(index, rule.CODE, severity, note) for note in rule.check(index))


def _finding(index: Index, code: str, severity: Severity, note: Note) -> Finding:
    place = note.place or index.model.places.get(note.element, Place(1, 1))
    return Finding(
        code=code, severity=severity, fact=note.fact, hint=note.hint, element=note.element,
        line=place.line, column=place.column, file=index.model.file,
    )  # fmt: skip


def _place(finding: Finding) -> tuple[int, int, int, str, str]:
    return finding.line, finding.column, _ORDER[finding.severity], finding.code, finding.element
