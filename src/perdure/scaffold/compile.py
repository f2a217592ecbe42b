"""From a model and a catalogue to the files of a project, in memory: the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.bpmn.contract import Contract, Policy, PolicyCatalogue, read_contract
from perdure.bpmn.contract.policies import Retry, values
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.lint.rules import request_without_wait
from perdure.bpmn.model import Model
from perdure.errors import ModelError, Problem
from perdure.scaffold.data_shapes import Field, Record, Shapes, shapes_of
from perdure.scaffold.evolution import Evolution, evolve
from perdure.scaffold.flow_graph import refused
from perdure.scaffold.identifiers import snake
from perdure.scaffold.project import Blueprint, Lock, ProjectFile, Target, Version, digest, fingerprint
from perdure.scaffold.structure import program_of
from perdure.scaffold.targets.target_table import target_named


class Compiled(msgspec.Struct, frozen=True):
    """A project in memory, and how its workflow followed the one before."""

    lock: Lock
    files: tuple[ProjectFile, ...]
    evolution: Evolution


def compile_project(
    model: Model, catalogue: PolicyCatalogue, *, target: str, model_path: str, catalogue_path: str,
    before: Lock | None = None, kept: Iterable[tuple[int, str]] = (), in_place: bool = False,
) -> Compiled:  # fmt: skip
    """Refuses what the profile forbids and what no statement says.

    `before` is the lock of the project as it is; `kept` the modules of its versions by number, of which the last one
    is kept when a new version begins.
    """
    writer = target_named(target)
    _refuse_errors(model)
    contract = read_contract(model)
    shapes = shapes_of(contract)
    program = program_of(contract)
    last = before.current() if before is not None else None
    evolution = evolve(
        last.program if last is not None else None, last.patches if last is not None else (), program, in_place=in_place
    )
    policies = _policies(contract, catalogue, before, evolution)
    lock = Lock(
        target=target, model=model_path, catalogue=catalogue_path, definition=contract.workflow.definition_id,
        process=contract.process.id, contract=contract_digest(model, contract),
        tasks={id: work.definition.policy for id, work in sorted(contract.work.items())},
        policies={each.name: values(each) for each in policies},
        functions=_functions(contract, before, evolution),
        records=_records(shapes, before, evolution),
        versions=_versions(contract, before, evolution, dict(kept)),
        queue=before.queue if before is not None else "",
    )  # fmt: skip
    blueprint = Blueprint(
        model=model, contract=contract, program=evolution.program,
        shapes=Shapes(lock.records, shapes.plain), policies=policies, lock=lock,
    )  # fmt: skip
    return Compiled(lock, tuple(_with_kept(writer, blueprint, dict(kept))), evolution)


def contract_digest(model: Model, contract: Contract) -> str:
    """The hash of everything a scaffold reads of a model: no drawing, no places, no order of attributes."""
    bare = (
        contract.process.id, contract.process.name, contract.process.documentation,
        contract.workflow.definition_id, contract.workflow.workflow_type, contract.workflow.workflow_id.text,
        [(id, w.node.name, w.definition.type, w.definition.policy, w.definition.idempotency_key.text,
          w.headers.as_dict(), _assignments(w.mapping.assignments)) for id, w in sorted(contract.work.items())],
        [(id, w.node.name, w.name, w.subscription.correlation_key.text, _assignments(w.mapping.assignments))
         for id, w in sorted(contract.waits.items())],
        [(id, g.node.name, g.update, _assignments(g.mapping.assignments)) for id, g in sorted(contract.gates.items())],
        msgspec.to_builtins(program_of(contract)),
        *([{each.id: each.code for each in model.definitions.errors}] if model.definitions.errors else ()),
    )  # fmt: skip
    return digest(msgspec.json.encode(bare, order="sorted").decode())


def _assignments(found: Iterable[object]) -> list[tuple[str, str, str]]:
    return [(each.direction, each.source.text, each.target.text) for each in found]  # type: ignore[attr-defined]


def requests_without_wait(model: Model) -> list[Problem]:
    """What the rule of requests finds. Code can be written for them, and `verify` tells of them."""
    return [each for each in _broken_rules(model) if each.code == request_without_wait.CODE]


def _refuse_errors(model: Model) -> None:
    """What the other rules of the profile call an error, each with its code, place and fix."""
    problems = [each for each in _broken_rules(model) if each.code != request_without_wait.CODE]
    if problems:
        raise ModelError(problems)


def _broken_rules(model: Model) -> list[Problem]:
    return [
        Problem(each.code, each.file, each.line, each.column, each.element, each.fact, each.hint)
        for each in lint(model, profile="contract")
        if each.severity == "error" and each.code.startswith("AME")
    ]


def _policies(
    contract: Contract, catalogue: PolicyCatalogue, before: Lock | None, evolution: Evolution
) -> tuple[Policy, ...]:
    """Those the model refers to, and those that kept versions still use."""
    found = {name: catalogue.get(name) for name in contract.policies()}
    for name, written in (before.policies if before is not None and _keeps_earlier(before, evolution) else {}).items():
        found.setdefault(name, catalogue.find(name) or _policy(name, written))
    return tuple(found[name] for name in sorted(found))


def _policy(name: str, written: dict[str, object]) -> Policy:
    retry = msgspec.convert(written["retry"], type=dict[str, object])
    seconds = msgspec.convert({k: v for k, v in written.items() if k != "retry"}, type=dict[str, float])
    return Policy(
        name=name, schedule_to_close_seconds=seconds["schedule_to_close"],
        start_to_close_seconds=seconds["start_to_close"],
        retry=Retry(
            maximum_attempts=msgspec.convert(retry["maximum_attempts"], type=int),
            initial_interval_seconds=msgspec.convert(retry["initial_interval"], type=float),
            maximum_interval_seconds=msgspec.convert(retry["maximum_interval"], type=float),
            backoff_coefficient=msgspec.convert(retry["backoff_coefficient"], type=float),
            non_retryable_error_types=msgspec.convert(retry["non_retryable_error_types"], type=tuple[str, ...]),
        ),
    )  # fmt: skip


def _keeps_earlier(before: Lock, evolution: Evolution) -> bool:
    return len(before.versions) > 1 or evolution.change == "version"


def _functions(contract: Contract, before: Lock | None, evolution: Evolution) -> dict[str, str]:
    types = {work.definition.type for work in contract.work.values()}
    if before is not None and _keeps_earlier(before, evolution):
        types |= set(before.functions)
    return {type: snake(type) for type in sorted(types)}


def _records(shapes: Shapes, before: Lock | None, evolution: Evolution) -> tuple[Record, ...]:
    """The records of this model, with the fields that kept versions still use."""
    if before is None or not _keeps_earlier(before, evolution):
        return shapes.records
    now = {record.name: record for record in shapes.records}
    earlier = {record.name: record for record in before.records}
    merged = {name: _merged(now.get(name), earlier.get(name)) for name in dict.fromkeys((*now, *earlier))}
    return tuple(_inner_first(merged))


def _merged(now: Record | None, earlier: Record | None) -> Record:
    if now is None or earlier is None:
        found = now or earlier
        assert found is not None
        return found
    fields = {field.name: field for field in earlier.fields}
    for field in now.fields:
        other = fields.get(field.name)
        if other is not None and bool(other.record) != bool(field.record):
            fact = f"'{field.name}' of {now.name} was a value in a version that is kept, or the other way round"
            raise refused(field.name, fact, "Give the new one another name.")
        kind = field.kind if other is None or other.kind == field.kind else "json"
        fields[field.name] = Field(field.name, kind, field.record)
    return Record(now.name, tuple(fields[name] for name in sorted(fields)))


def _inner_first(records: dict[str, Record]) -> list[Record]:
    found: dict[str, Record] = {}

    def add(name: str) -> None:
        for field in records[name].fields:
            if field.record:
                add(field.record)
        found[name] = records[name]

    for name in records:
        add(name)
    return list(found.values())


def _versions(
    contract: Contract, before: Lock | None, evolution: Evolution, kept: dict[int, str]
) -> tuple[Version, ...]:
    earlier = before.versions if before is not None else ()
    type = contract.workflow.workflow_type
    if evolution.change == "version":
        last = earlier[-1]
        text = kept.get(last.number, "")
        earlier = (*earlier[:-1], msgspec.structs.replace(last, content=digest(text)))
        number = last.number + 1
    else:
        number = earlier[-1].number if earlier else 1
        earlier = earlier[:-1]
    own = Version(
        number=number, type=type if number == 1 else f"{type}V{number}", program=evolution.program,
        fingerprint=fingerprint(evolution.program), patches=evolution.patches,
    )  # fmt: skip
    return (*earlier, own)


def _with_kept(writer: Target, blueprint: Blueprint, kept: dict[int, str]) -> list[ProjectFile]:
    files = writer.files(blueprint)
    for version in blueprint.lock.versions[:-1]:
        path = writer.workflow_path(blueprint.lock, version.number)
        files.append(ProjectFile(path, kept.get(version.number, ""), "kept"))
    return sorted(files, key=lambda each: each.path)
