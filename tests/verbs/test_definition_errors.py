"""Every way a definition can be wrong is told with its place, its reason and the fix."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from perdure.errors import DefinitionError, Problem
from perdure.verbs import load_catalogue, load_text


class Case(NamedTuple):
    text: str
    code: str
    place: tuple[int, int]
    says: str
    hint: str = ""


VERB = "- name: a.b\n"
DURABLE = VERB + "  execution:\n    kind: durable\n"
SYNC = VERB + "  execution:\n    kind: sync\n"

CASES = {
    "syntax": Case("- name: [\n", "yaml.syntax", (2, 1), "does not parse"),
    "tab": Case("a:\n\t- b", "yaml.syntax", (2, 1), "does not parse"),
    "duplicate key": Case(VERB + "  name: c.d\n", "yaml.duplicate_key", (2, 3), "already given on line 1"),
    "tag": Case("- !!python/name:os.system x", "yaml.tag", (1, 3), "tag"),
    "collection tag": Case("- !thing {name: a.b}", "yaml.tag", (1, 3), "not allowed"),
    "mapping key": Case("? {a: b}\n: c", "yaml.key", (1, 3), "a key must be"),
    "long key": Case("k" * 201 + ": 1", "yaml.key", (1, 1), "more than 200"),
    "alias key": Case("- &x a\n- {*x : b}", "yaml.key", (2, 4), "alias cannot be a key"),
    "unknown alias": Case("- *nowhere", "yaml.alias", (1, 3), "refers to nothing"),
    "recursive alias": Case("- &x [*x]", "yaml.alias", (1, 7), "refers to nothing finished"),
    "deep": Case("[" * 70 + "]" * 70, "yaml.too_deep", (1, 65), "64 levels"),
    "infinite number": Case(VERB + "  metadata: {x: 1e999}", "yaml.number", (2, 17), "too large"),
    "large integer": Case(VERB + "  metadata: {x: 9007199254740993}", "yaml.number", (2, 17), "2^53-1"),
    "scalar root": Case("hello", "file.layout", (1, 1), "expected verbs, found text"),
    "unknown section": Case("verbs: []\nentitys: {}\n", "file.unknown_key", (2, 1), "'entitys'", "'entities'"),
    "unrecognised": Case("verbz: [1]\n", "file.unknown_key", (1, 1), "'verbz'", "'verbs'"),
    "verb not a mapping": Case("- 5\n", "verb.wrong_type", (1, 3), "expected a mapping, found a number"),
    "no name": Case("- description: x\n", "verb.missing_key", (1, 3), "'name' is missing"),
    "bad name": Case("- name: Open Case\n", "verb.name", (1, 9), "not a verb name", "kyc.open-case"),
    "name of a number": Case("- name: 5\n", "verb.wrong_type", (1, 9), "expected text, found a number", "quotes"),
    "domain clash": Case("- {name: a.b, domain: c}\n", "verb.domain", (1, 10), "not in the domain 'c'"),
    "unknown key": Case(VERB + "  descripton: x\n", "verb.unknown_key", (2, 3), "'descripton'", "'description'"),
    "version": Case(VERB + "  version: 2.0-strict\n", "verb.wrong_value", (2, 12), "whole number from 1"),
    "boolean version": Case(VERB + "  version: true\n", "verb.wrong_value", (2, 12), "found"),
    "consequence": Case(
        VERB + "  consequence: requires_confirmaton\n",
        "verb.unknown_value",
        (2, 16),
        "not one of benign",
        "'requires_confirmation'",
    ),
    "unknown promise": Case(
        VERB + "  contract: {write_flags: []}\n", "contract.unknown_key", (2, 14), "'write_flags'", "'writes_flags'"
    ),
    "promised flag": Case(
        VERB + "  contract: {writes_flags: [approved]}\n", "contract.name", (2, 29), "not named orch_", "orch_approved"
    ),
    "promised flag of a number": Case(
        VERB + "  contract: {writes_flags: [5]}\n", "contract.wrong_type", (2, 29), "expected text, found a number"
    ),
    "promised error": Case(
        VERB + "  contract: {may_raise: [5]}\n", "contract.wrong_type", (2, 26), "expected text, found a number"
    ),
    "promise of a durable verb": Case(
        DURABLE + "  contract: {may_raise: [NO]}\n",
        "verb.wrong_kind",
        (4, 13),
        "this one is durable",
        "execution.flags",
    ),
    "duplicate verb": Case(VERB + "- name: a.b\n", "verb.duplicate", (2, 9), "already declared", "on line 1"),
    "duplicate by spelling": Case("- name: a.b-c\n- name: a.b_c\n", "verb.duplicate", (2, 9), "already declared"),
    "kind": Case(VERB + "  execution: {kind: durabel}\n", "execution.unknown_value", (2, 21), "'durabel'", "'durable'"),
    "execution key": Case(
        VERB + "  execution: {hander: x}\n", "execution.unknown_key", (2, 15), "'hander'", "'handler'"
    ),
    "durable key on sync": Case(
        SYNC + "    process: p\n", "execution.wrong_kind", (4, 14), "belongs to a durable verb"
    ),
    "compensate on durable": Case(
        DURABLE + "    compensate: a.b\n", "execution.wrong_kind", (4, 17), "belongs to a sync verb", "'compensation'"
    ),
    "nested workflow": Case(
        DURABLE + "    sub_verbs: [a.c]\n- {name: a.c, execution: {kind: durable}}\n",
        "verb.sub_verbs",
        (4, 17),
        "'a.c' is durable, and a durable verb is made of sync verbs only",
        "message",
    ),
    "missing sub-verb": Case(
        DURABLE + "    sub_verbs: [a.create-recrod]\n- name: a.create-record\n",
        "verb.sub_verbs",
        (4, 17),
        "does not exist",
        "'a.create-record'",
    ),
    "compensation of a stranger": Case(
        DURABLE + "    compensation: {a.c: a.c}\n- name: a.c\n",
        "verb.compensation",
        (4, 19),
        "not one of the sub_verbs",
    ),
    "missing compensation": Case(
        DURABLE + "    sub_verbs: [a.c]\n    compensation: {a.c: a.gone}\n- name: a.c\n",
        "verb.compensation",
        (5, 19),
        "'a.gone' does not exist",
    ),
    "missing compensate": Case(SYNC + "    compensate: a.gone\n", "verb.compensate", (4, 17), "does not exist"),
    "missing writer": Case(
        DURABLE + "    flags: {orch_x: {type: boolean, writers: [a.gone]}}\n", "verb.flags", (4, 12), "does not exist"
    ),
    "correlation name": Case(
        DURABLE + "    correlation: {key: $cas_id}\n  input_schema: {properties: {case_id: {}}}\n",
        "verb.correlation",
        (4, 18),
        "names 'cas_id'",
        "'case_id'",
    ),
    "correlation key": Case(
        DURABLE + "    correlation: {kye: x}\n", "correlation.unknown_key", (4, 19), "'kye'", "'key'"
    ),
    "payload source": Case(
        DURABLE + "    payload: {in: {x: $gone}}\n", "verb.payload", (4, 14), "'$gone', which is not an argument"
    ),
    "payload result": Case(
        DURABLE + "    payload: {out: [gone]}\n  output_schema: {properties: {there: {}}}\n",
        "verb.payload",
        (4, 14),
        "not in the output schema",
    ),
    "payload budget": Case(DURABLE + "    payload: {max_bytes: 0}\n", "payload.wrong_value", (4, 26), "from 2 to"),
    "sentence": Case(
        VERB + "  sentences: {step: 'Open {entiti}'}\n  input_schema: {properties: {entity: {}}}\n",
        "verb.sentences",
        (2, 14),
        "'entiti', which is not an argument",
        "'entity'",
    ),
    "clarify": Case(
        VERB + "  sentences: {clarify: {gone: 'What?'}}\n", "verb.sentences", (2, 14), "'gone', which is not"
    ),
    "index": Case(
        VERB + "  index: [gone]\n  input_schema: {properties: {gown: {}}}\n", "verb.index", (2, 10), "neither", "'gown'"
    ),
    "index of a list": Case(
        VERB + "  index: [x]\n  input_schema: {properties: {x: {type: array}}}\n",
        "verb.index",
        (2, 10),
        "not a single value",
    ),
    "index too long": Case(
        VERB
        + "  index: [a, b, c, d, e, f, g, h, i]\n  input_schema: {properties: {"
        + ", ".join(f"{letter}: {{type: string}}" for letter in "abcdefghi")
        + "}}\n",
        "verb.index",
        (2, 10),
        "at most 8",
    ),
    "crud entity": Case(
        SYNC
        + "    handler: crud::execute\n    params: {entity: cse, operation: read}\n"
        + "---\nentities: {case: {fields: {id: uuid}}}\n",
        "verb.params",
        (5, 13),
        "the entity 'cse' is not declared",
        "'case'",
    ),
    "crud operation": Case(
        SYNC + "    handler: crud::execute\n    params: {entity: e, operation: link}\n",
        "execution.operation",
        (5, 36),
        "'link' is not a CRUD operation",
        "create, read, update, delete, list",
    ),
    "crud operation list": Case(
        SYNC + "    handler: crud::execute\n    params: {entity: e, operation: [x]}\n",
        "execution.operation",
        (5, 36),
        "is not a CRUD operation",
    ),
    "empty duration": Case(SYNC + "    policy: {timeout: PT}\n", "policy.duration", (4, 23), "'PT' is refused"),
    "bare duration": Case(SYNC + "    policy: {timeout: P}\n", "policy.duration", (4, 23), "'P' is refused"),
    "months": Case(SYNC + "    policy: {timeout: P1M}\n", "policy.duration", (4, 23), "no fixed length", "P30D"),
    "half a year": Case(SYNC + "    policy: {timeout: P0.5Y}\n", "policy.duration", (4, 23), "no fixed length"),
    "negative": Case(SYNC + "    policy: {timeout: -PT5S}\n", "policy.duration", (4, 23), "no sign"),
    "duration of a number": Case(SYNC + "    policy: {timeout: 5}\n", "policy.duration", (4, 23), "found a number"),
    "attempts": Case(SYNC + "    retry: {max_attempts: 0}\n", "retry.wrong_value", (4, 27), "from 1 to"),
    "both counts": Case(SYNC + "    retry: {max_attempts: 2, max_retries: 2}\n", "retry.clash", (4, 43), "both given"),
    "both policies": Case(
        SYNC + "    retry: {jitter: 0}\n    policy: {jitter: 1}\n",
        "execution.clash",
        (4, 21),
        "both 'retry' and 'policy'",
    ),
    "backoff": Case(SYNC + "    retry: {backoff: expo}\n", "retry.unknown_value", (4, 22), "'expo' is not one of"),
    "jitter": Case(SYNC + "    retry: {jitter: 2}\n", "retry.wrong_value", (4, 21), "from 0 to 1"),
    "failure class": Case(SYNC + "    retry: {retry_on: [tired]}\n", "retry.unknown_value", (4, 23), "'tired'"),
    "delays": Case(
        SYNC + "    retry: {base_delay: PT9S, max_delay: PT3S}\n", "retry.wrong_value", (4, 42), "shorter than"
    ),
    "flag name": Case(DURABLE + "    flags: {approved: {type: boolean}}\n", "flag.name", (4, 23), "orch_<words>"),
    "flag type": Case(
        DURABLE + "    flags: {orch_x: {initial: 1}}\n", "flag.missing_key", (4, 21), "'type' is missing"
    ),
    "flag values": Case(DURABLE + "    flags: {orch_x: {type: enum}}\n", "flag.values", (4, 21), "lists no values"),
    "flag initial": Case(
        DURABLE + "    flags: {orch_x: {type: enum, values: [a, b]}}\n", "flag.initial", (4, 21), "no initial value"
    ),
    "flag wrong initial": Case(
        DURABLE + "    flags: {orch_x: {type: integer, initial: soon}}\n", "flag.initial", (4, 46), "does not fit"
    ),
    "flag initial list": Case(
        DURABLE + "    flags: {orch_x: {type: string, initial: [1]}}\n", "flag.wrong_type", (4, 45), "not a list"
    ),
    "flag values of text": Case(
        DURABLE + "    flags: {orch_x: {type: string, values: [a]}}\n", "flag.values", (4, 44), "only an enum"
    ),
    "flag format": Case(
        DURABLE + "    flags: {orch_x: {type: integer, format: duration}}\n", "flag.format", (4, 45), "only text"
    ),
    "flag merge": Case(
        DURABLE + "    flags: {orch_x: {type: string, merge: sum}}\n", "flag.merge", (4, 43), "cannot merge by 'sum'"
    ),
    "start process": Case(
        DURABLE + "    handler: bpmn::start_process\n", "execution.params", (4, 14), "needs params with a process_ref"
    ),
    "start process key": Case(
        DURABLE + "    handler: bpmn::start_process\n    params: {process_rf: x}\n",
        "start_process.unknown_key",
        (5, 14),
        "'process_rf'",
        "'process_ref'",
    ),
    "schema key": Case(
        VERB + "  input_schema: {propertys: {}}\n", "schema.unknown_key", (2, 18), "'propertys'", "'properties'"
    ),
    "schema type": Case(
        VERB + "  input_schema: {properties: {x: {type: strng}}}\n",
        "schema.unknown_type",
        (2, 41),
        "'strng' is not a type",
        "'string'",
    ),
    "schema of text": Case(VERB + "  input_schema: hello\n", "schema.wrong_type", (2, 17), "expected a schema"),
    "enum without values": Case(
        VERB + "  input_schema: {properties: {x: {type: enum}}}\n", "schema.enum", (2, 41), "needs its values"
    ),
    "remote reference": Case(
        VERB + "  input_schema: {$ref: 'https://example.com/x'}\n",
        "schema.reference",
        (2, 24),
        "refused",
        "never fetched",
    ),
    "file reference": Case(
        VERB + "  input_schema: {$ref: 'file:///etc/passwd'}\n", "schema.reference", (2, 24), "refused", "never fetched"
    ),
    "unknown definition": Case(
        VERB + "  input_schema: {properties: {x: {$ref: '#/definitions/Plto'}}}\n---\ndefinitions: {Plot: {}}\n",
        "schema.reference",
        (2, 41),
        "'Plto' does not exist",
        "'Plot'",
    ),
    "unknown required": Case(
        VERB + "  input_schema: {required: [entiti], properties: {entity: {}}}\n",
        "schema.required",
        (2, 28),
        "'entiti' is required but is not a property",
        "'entity'",
    ),
    "clashing arguments": Case(
        VERB + "  input_schema: {properties: {case-type: {}, case_type: {}}}\n",
        "schema.clash",
        (2, 57),
        "same argument",
    ),
    "clashing args": Case(
        VERB + "  args: [{name: case-type}, {name: ':case-type'}]\n", "verb.clash", (2, 29), "given twice"
    ),
    "args and schema": Case(VERB + "  args: []\n  input_schema: {}\n", "verb.clash", (2, 9), "both given"),
    "arg key": Case(VERB + "  args: [{name: x, typ: uuid}]\n", "arg.unknown_key", (2, 20), "'typ'", "'type'"),
    "default": Case(
        VERB + "  input_schema: {properties: {x: {type: integer, default: many}}}\n",
        "verb.default",
        (2, 59),
        "the default of 'x' does not fit",
    ),
    "pattern": Case(VERB + "  input_schema: {properties: {x: {pattern: '('}}}\n", "verb.schema", (2, 44), "not valid"),
    "format": Case(
        VERB + "  input_schema: {properties: {x: {type: string, format: emial}}}\n",
        "schema.format",
        (2, 57),
        "emial",
        "'email'",
    ),
    "bad definition": Case(
        "definitions:\n  X: {minimum: low}\n", "schema.invalid", (2, 6), "the definition 'X' is not valid"
    ),
    "duplicate definition": Case(
        "definitions: {X: {}}\n---\ndefinitions: {X: {}}\n", "file.duplicate", (3, 18), "already declared", "line 1"
    ),
    "entity key": Case(
        "entities: {e: {fields: {case_id: uuid}, key: cas_id}}\n", "entity.key", (1, 46), "not a field", "'case_id'"
    ),
    "entity without key": Case("entities: {e: {fields: {x: uuid}}}\n", "entity.key", (1, 15), "has no key"),
    "entity without fields": Case("entities: {e: {key: x}}\n", "entity.missing_key", (1, 15), "'fields' is missing"),
    "entity type": Case(
        "entities: {e: {fields: {id: uid}}}\n", "entity_field.unknown_value", (1, 29), "'uid'", "'uuid'"
    ),
    "entity enum": Case(
        "entities: {e: {fields: {id: uuid, s: {type: enum}}}}\n", "entity_field.values", (1, 38), "lists no values"
    ),
    "entity list": Case("entities: [1]\n", "entity.wrong_type", (1, 11), "mapping of entities"),
    "duplicate entity": Case(
        "entities: {e: {fields: {id: uuid}}}\n---\nentities: {e: {fields: {id: uuid}}}\n",
        "file.duplicate",
        (3, 11),
        "already declared",
    ),
    "behavior": Case("a: {b: {behavior: pluggin}}\n", "domain_verb.unknown_value", (1, 19), "'pluggin'", "'plugin'"),
    "domain verb key": Case(
        "a: {b: {behaviour: crud}}\n", "domain_verb.unknown_key", (1, 9), "'behaviour'", "'behavior'"
    ),
    "domain key": Case("domains: {a: {verb: {}}}\n", "domain.unknown_key", (1, 15), "'verb'", "'verbs'"),
    "domain without operation": Case(
        "a: {frobnicate: {behavior: crud}}\n", "execution.operation", (1, 17), "'frobnicate' is not a CRUD operation"
    ),
    "text as boolean": Case(
        DURABLE + "    flags: {orch_x: {type: boolean, once: yes}}\n",
        "flag.wrong_type",
        (4, 43),
        "expected true or false",
    ),
    "list expected": Case(VERB + "  index: {x: 1}\n", "verb.wrong_type", (2, 10), "expected a list"),
    "list of texts": Case(VERB + "  search_phrases: [1]\n", "verb.wrong_type", (2, 20), "expected text"),
}


def _problems(text: str) -> list[Problem]:
    with pytest.raises(DefinitionError) as caught:
        load_text(text, "verbs.yaml")
    return caught.value.problems


@pytest.mark.req("V3")
@pytest.mark.req("V11")
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_definition_is_told_with_place_reason_and_fix(name: str) -> None:
    case = CASES[name]
    matching = [
        problem for problem in _problems(case.text) if problem.code == case.code and case.says in problem.reason
    ]
    assert matching, _problems(case.text)
    problem = matching[0]
    assert (problem.line, problem.column) == case.place, problem.sentence()
    assert case.hint in problem.hint
    assert problem.sentence().startswith(f"verbs.yaml:{problem.line}:{problem.column}: {case.code}:")


@pytest.mark.req("V3")
def test_all_problems_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- {name: A}\n- {name: a.b, versoin: 2}\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.yml").write_text("- {name: c.d, execution: {kind: maybe}}\n")
    (tmp_path / "ignored.txt").write_text("not: read")
    with pytest.raises(DefinitionError) as caught:
        load_catalogue([tmp_path])
    files = [Path(problem.file).name for problem in caught.value.problems]
    assert files == ["a.yaml", "a.yaml", "b.yml"]
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"a: \xff\xfe", "yaml.encoding", "not UTF-8"),
        (b"x" * 2_000_001, "yaml.too_large", "larger than 2000000 bytes"),
    ],
)
def test_a_file_that_cannot_be_text_is_refused(tmp_path: Path, content: bytes, code: str, says: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(content)
    with pytest.raises(DefinitionError) as caught:
        load_catalogue([file])
    assert [(problem.code, says in problem.reason) for problem in caught.value.problems] == [(code, True)]


def test_a_missing_source_names_the_nearest_file(tmp_path: Path) -> None:
    (tmp_path / "verbs.yaml").write_text("")
    with pytest.raises(DefinitionError, match=r"no such file or folder.*verbs\.yaml"):
        load_catalogue([tmp_path / "verb.yaml"])


def test_a_few_aliases_cannot_stand_for_millions_of_values() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 12)]
    assert _problems("\n".join(lines))[0].code == "yaml.too_large"


def test_an_alias_repeats_what_was_written_before() -> None:
    catalogue = load_text(
        "- {name: a.b, input_schema: &s {properties: {x: {type: uuid}}}}\n- {name: a.c, input_schema: *s}\n"
    )
    assert catalogue.get("a.b").input.schema == catalogue.get("a.c").input.schema
