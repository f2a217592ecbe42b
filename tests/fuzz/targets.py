"""One function per parser: whatever the bytes, it ends in a value that holds or in an error of ours."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from perdure.app.compliance_export import check_document
from perdure.app.configuration.project import load_config
from perdure.app.lists.list_rows import dead_letter
from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.conditions.tree import Foreign
from perdure.bpmn.content_hash import content_hash
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.process_machine import ProcessMachine
from perdure.bpmn.xml import read_model, write_model
from perdure.durations import parse_duration
from perdure.errors import (
    DefinitionError,
    InvariantBroken,
    ModelError,
    PerdureError,
    ProgramError,
    UnreadableFormError,
)
from perdure.moments import is_date_time
from perdure.payload import canonical, data_hash, digest, digest_text, pack, parse, parse_digest, unpack
from perdure.runbooks.executor.completion_inbox import read_completion
from perdure.runbooks.language.code_completion import complete
from perdure.runbooks.language.compiler import compile_calls, compile_program
from perdure.runbooks.language.dry_run import dry_run
from perdure.runbooks.language.formatter import format_program
from perdure.runbooks.language.json_calls import calls_from_json
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import id_text, parse_id
from perdure.store.audit import verify_export
from perdure.store.audit.call_export import digest_of
from perdure.store.driver_selection import open_driver
from perdure.store.seals.seal import unpack as unpack_heads
from perdure.store.signing_keys import load_key, load_public_keys
from perdure.surfaces.cli.argument_values import duration, expression, json_option, pairs
from perdure.testing.scenarios.scenario_loader import read_scenario
from perdure.verbs import Catalogue, load_text
from perdure.verbs.sexpr.mistakes import render
from perdure.verbs.sexpr.reader import read
from perdure.verbs.sexpr.writer import write
from tests.fuzz.seeds import VERBS

MACHINE = RunbookMachine()
ID = bytes(range(16))


def verbs(data: bytes) -> None:
    _catalogue(data.decode("utf-8", "surrogateescape"))


def overrides(data: bytes) -> None:
    """An environment's file, as the value that YAML or JSON made of it."""
    with suppress(ValueError, RecursionError):
        given = msgspec.json.decode(data)
        if isinstance(given, dict):
            _catalogue(VERBS, given)


def _catalogue(text: str, given: dict[str, Any] | None = None) -> None:
    try:
        catalogue = load_text(text, "fuzz.yaml", given)
    except DefinitionError as error:
        assert error.problems
        assert all(each.line >= 1 and each.column >= 1 and each.sentence() for each in error.problems)
    else:
        catalogue.lint()
        for verb in catalogue:
            verb.sentence({})


def configuration(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "perdure.yaml"
        path.write_bytes(data)
        config = _refused_or(load_config, path)
        if config is not None:
            _refused_or(open_driver, config.store)


def expressions(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    try:
        program = read(text)
    except DefinitionError as error:
        assert all("^" in render(problem, text) for problem in error.problems)
    else:
        assert write(read(write(program))) == write(program)


def programs(data: bytes) -> None:
    """A runbook's program, in whichever form it seems to be; what compiles is told and written again."""
    text = data.decode("utf-8", "surrogateescape")
    catalogue = _known()
    try:
        plan = compile_program(text, catalogue, variables={"client": "Ana"})
    except ProgramError as error:
        assert error.problems
        assert "^" in str(error)
    else:
        assert len(dry_run(plan, catalogue).order) == len(plan.steps)
        written = format_program(text)
        assert format_program(written) == written
        assert compile_program(written, catalogue, variables={"client": "Ana"}).content_hash == plan.content_hash
    complete(text, len(text) // 2, catalogue)


def calls(data: bytes) -> None:
    """Calls that an agent sends as JSON."""
    with suppress(ValueError, RecursionError):
        given = msgspec.json.decode(data)
        found = _refused_or(calls_from_json, given)
        if found is not None:
            _refused_or(lambda: compile_calls(found, _known(), variables={"client": "Ana"}))


def command_line(data: bytes) -> None:
    """The words of `perdure call` and the options that take JSON and durations."""
    word = data.decode("utf-8", "surrogateescape")
    catalogue = _known()
    _refused_or(expression, word, catalogue)
    _refused_or(pairs, word.split("\n"), catalogue.get("kyc.open-case"))
    _refused_or(pairs, word.split("\n"))
    _refused_or(json_option, "--result", word)
    _refused_or(duration, "--timeout", word)


def words(data: bytes) -> None:
    """Ids, durations, hashes and moments."""
    text = data.decode("utf-8", "surrogateescape")
    id = _refused_or(parse_id, text)
    assert id is None or id_text(id) == text.lower()
    seconds = _refused_or(parse_duration, text)
    assert seconds is None or 0 <= seconds < 1e16
    raw = _refused_or(parse_digest, text)
    assert raw is None or digest_text(raw) == text
    is_date_time(text)
    _refused_or(open_driver, text)


def models(data: bytes) -> None:
    """A process model, which is written and read again when it can be read."""
    try:
        model = read_model(data, "fuzz.bpmn")
    except ModelError as error:
        assert error.problems
        assert all(each.line >= 1 and each.column >= 1 and each.sentence() for each in error.problems)
    else:
        assert read_model(write_model(model)).definitions == model.definitions
        for process in model.definitions.processes:
            content_hash(model.definitions, process.id)


def conditions(data: bytes) -> None:
    """A condition is read or foreign, never an error; what was read is written so that it reads the same."""
    condition = parse_condition(data.decode("utf-8", "surrogateescape"))
    if isinstance(condition, Foreign):
        assert condition.fact
    else:
        for spelling in ("feel", "source"):
            assert parse_condition(show_condition(condition, spelling)) == condition


def scenarios(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    try:
        read_scenario(text, "fuzz.yaml", Path("nowhere"))
    except DefinitionError as error:
        assert error.problems
        assert all(each.line >= 1 and each.sentence() for each in error.problems)


def instances(data: bytes) -> None:
    """States and records of instances and of deployed processes."""
    for machine in (InstanceMachine({}), ProcessMachine()):
        _form(machine.decode, machine.encode, data)
        _form(machine.records.decode, msgspec.msgpack.encode, data)


def payload(data: bytes) -> None:
    value = _refused_or(parse, data)
    if value is not None:
        assert parse(canonical(value), canonical_only=True) == value


def envelope(data: bytes) -> None:
    """A payload that arrives with the right hash, so that what is inside is looked at."""
    text = data.decode("utf-8", "replace")
    found = _refused_or(unpack, (text, digest_text(digest(text.encode()))))
    if found is not None:
        assert pack(found).domain_payload == text


def states(data: bytes) -> None:
    _form(MACHINE.decode, MACHINE.encode, data)
    with suppress(UnreadableFormError):
        MACHINE.rows(ID, MACHINE.decode(data))


def records(data: bytes) -> None:
    _form(MACHINE.records.decode, msgspec.msgpack.encode, data)


def _form(decode: Callable[[bytes], Any], encode: Callable[[Any], bytes], data: bytes) -> None:
    with suppress(UnreadableFormError):
        value = decode(data)
        assert decode(encode(value)) == value


def completions(data: bytes) -> None:
    """What is kept of a dead letter."""
    _refused_or(read_completion, "m-1", data)
    letter: Any = SimpleNamespace(message_id="m-1", kind="completion", key="k", received_at=0, answer="dead", body=data)
    assert dead_letter(letter).message_id == "m-1"


def exports(data: bytes) -> None:
    """A document as it is, and with its digest made right, so that what is inside is looked at."""
    verify_export(data)
    with suppress(ValueError, RecursionError, PerdureError):
        content = json.loads(data)
        if isinstance(content, dict):
            content.pop("digest", None)
            verify_export(canonical({**content, "digest": digest_of(content)}))


def documents(data: bytes) -> None:
    """A compliance document as it is, and with its digest made right, so that what is inside is looked at."""
    check_document(data)
    with suppress(ValueError, RecursionError, PerdureError):
        content = json.loads(data)
        if isinstance(content, dict):
            content.pop("digest", None)
            check_document(canonical({**content, "digest": data_hash(content)}))


def keys(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seal.key"
        path.touch(0o600)
        path.write_bytes(data)
        _refused_or(load_key, path)
        _refused_or(load_public_keys, [path])


def seals(data: bytes) -> None:
    """The heads a seal covers."""
    heads = unpack_heads(data)
    assert heads is None or all(len(id) == 16 for id, _ in heads)


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each
    for each in (
        verbs, overrides, configuration, expressions, programs, calls, command_line, words, models, conditions,
        scenarios, instances, payload, envelope, states, records,
        completions, documents, exports, keys, seals,
    )
}  # fmt: skip


def _refused_or(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function gives, or None when it refuses in the house's own words."""
    try:
        return function(*arguments)
    except InvariantBroken:
        raise
    except PerdureError as error:
        str(error)
        return None


@lru_cache
def _known() -> Catalogue:
    return load_text(VERBS)
