"""An environment may pretend that any verb runs, and nobody who calls it can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.errors import DefinitionError
from perdure.verbs import Catalogue, load_catalogue, load_text

VERBS = """
- name: kyc.ask
  execution: {kind: durable, process: ask, sub_verbs: [kyc.note]}
  output_schema:
    required: [id, on, who, ok, n, kind, lines, link, amount, why]
    properties:
      id: {type: uuid}
      "on": {type: date}
      who: {type: email}
      ok: {type: boolean}
      n: {type: integer, minimum: 3}
      kind: {enum: [a, b]}
      lines: {type: array, minItems: 1, items: {required: [x], properties: {x: {type: string, minLength: 2}}}}
      link: {type: uri}
      amount: {type: decimal}
      why: {type: string, default: because}
- name: kyc.note
- name: aml.note
"""


def _load(overrides: Any) -> Catalogue:
    return load_text(VERBS, "verbs.yaml", overrides)


@pytest.mark.req("X1")
def test_a_durable_verb_can_complete_at_once_with_a_made_up_result() -> None:
    verb = _load({"kyc.ask": "mock::instant_complete"}).get("kyc.ask")
    assert (verb.execution.kind, verb.execution.handler, verb.execution.process) == (
        "sync",
        "mock::instant_complete",
        None,
    )
    result = verb.execution.params["result"]
    assert verb.check_output(result) == result
    assert (result["kind"], result["n"], result["why"]) == ("a", 3, "because")


@pytest.mark.req("X1")
def test_the_result_can_be_configured() -> None:
    overrides = {"kyc.note": {"handler": "mock::instant_complete", "result": {"noted": True}}}
    assert _load(overrides).get("kyc.note").execution.params == {"result": {"noted": True}}


@pytest.mark.req("X1")
def test_any_verb_can_be_made_to_park() -> None:
    catalogue = _load({"*": "mock::park"})
    assert [(verb.execution.kind, verb.execution.handler) for verb in catalogue] == [("durable", "mock::park")] * 3


@pytest.mark.req("X1")
def test_an_exact_name_beats_a_glob_and_a_longer_glob_a_shorter_one() -> None:
    catalogue = _load({"*": "mod.any", "kyc.*": "mod.kyc", "kyc.note": "mod.note"})
    assert {verb.name: verb.execution.handler for verb in catalogue} == {
        "kyc.ask": "mod.kyc",
        "kyc.note": "mod.note",
        "aml.note": "mod.any",
    }


def test_an_override_is_recorded_and_changes_the_content_hash() -> None:
    plain, changed = _load(None).get("kyc.note"), _load({"kyc_note".replace("_", "."): "mod.fn"}).get("kyc.note")
    assert (plain.definition.override, changed.definition.override) == (None, "mod.fn")
    assert plain.content_hash != changed.content_hash
    assert plain.input.schema == changed.input.schema


@pytest.mark.req("X1")
def test_overrides_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "verbs.yaml").write_text(VERBS)
    environment = tmp_path / "environment.yml"
    environment.write_text("kyc.*: mock::park\naml.note: {handler: mock::instant_complete, result: {x: 1}}\n")
    catalogue = load_catalogue([tmp_path / "verbs.yaml"], environment)
    assert catalogue.get("kyc.note").definition.override == "mock::park"
    assert catalogue.get("aml.note").execution.params == {"result": {"x": 1}}


@pytest.mark.parametrize(
    ("overrides", "code", "says"),
    [
        ({"kyc.nte": "mock::park"}, "override.no_match", "no verb is named like 'kyc.nte'"),
        ({"kyz.*": "mock::park"}, "override.no_match", "no verb is named like"),
        ({"kyc.ask": {"handlr": "x"}}, "override.unknown_key", "'handlr'"),
        ({"kyc.ask": {}}, "override.missing_key", "'handler' is missing"),
        ({"kyc.ask": 5}, "override.wrong_type", "expected a mapping"),
        ({"kyc.ask": {"handler": "mock::park", "result": {}}}, "override.result", "only mock::instant_complete"),
        (
            {"kyc.ask": {"handler": "mock::instant_complete", "result": {"id": 1}}},
            "override.result",
            "the result does not fit 'kyc.ask'",
        ),
    ],
)
def test_a_wrong_override_is_told(overrides: Any, code: str, says: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        _load(overrides)
    assert any(problem.code == code and says in problem.reason for problem in caught.value.problems)


def test_a_result_that_cannot_be_made_up_must_be_configured() -> None:
    text = "- {name: a.b, output_schema: {required: [x], properties: {x: {type: string, pattern: '^[A-Z]{3}$'}}}}"
    with pytest.raises(DefinitionError, match=r"no result could be made up for 'a\.b'.*Configure result"):
        load_text(text, overrides={"a.b": "mock::instant_complete"})
