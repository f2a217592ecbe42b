"""Every layout that people write verbs in loads onto the same definition."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from perdure.payload import data_hash
from perdure.verb_contract import FlagContract, RetryPolicy, UnreachablePolicy
from perdure.verbs import Catalogue, load_catalogue, load_text
from perdure.verbs.definition import VerbContract

FIXTURES = Path(__file__).parent / "fixtures"
SHARED = Path(__file__).parents[2].parent / "shared"


@pytest.fixture(scope="module")
def canonical() -> Catalogue:
    return load_catalogue([FIXTURES / "canonical"])


@pytest.fixture(scope="module")
def domains() -> Catalogue:
    return load_catalogue([FIXTURES / "domains"])


@pytest.mark.req("V3")
def test_the_canonical_durable_verb_is_read_completely(canonical: Catalogue) -> None:
    verb = canonical.get("lending.open-application")
    execution = verb.execution
    assert (verb.version, verb.definition.domain, verb.definition.consequence) == (
        1,
        "lending",
        "requires_confirmation",
    )
    assert (execution.kind, execution.process, execution.wait) == ("durable", "lending-open-application", "track")
    assert execution.correlation_key == "application/{application_id}"
    assert execution.payload_in == {"applicant_ref": "$applicant", "loan_type": "$loan-type"}
    assert execution.payload_out == ("application_id", "decision")
    assert execution.max_bytes == 32768
    assert execution.compensation == {"lending.ask-for-papers": "lending.withdraw-request"}
    assert execution.retry == RetryPolicy(3, "exponential", 2.0, 30.0)
    assert (execution.timeout_seconds, execution.escalation) == (14 * 86400, "lending-escalation")
    assert verb.definition.index == ("applicant", "decision")
    assert verb.definition.file.endswith("lending.yaml") and verb.definition.line == 1


@pytest.mark.req("V3")
def test_flag_contracts_are_read_with_their_writers_and_merge_rules(canonical: Catalogue) -> None:
    flags = {flag.name: flag for flag in canonical.get("lending.open-application").execution.flags}
    assert flags["orch_application_id"] == FlagContract("orch_application_id", "string", once=True)
    assert flags["orch_papers_asked"].merge == "any"
    assert flags["orch_decision"].writers == ("lending.record-decision",)
    assert flags["orch_rounds"].starting_value() == 0
    assert flags["orch_patience"].format == "duration"


@pytest.mark.req("V3")
def test_what_a_verb_promises_to_processes_is_read(domains: Catalogue) -> None:
    text = "{name: a.b, contract: {writes_flags: [orch_x, orch.y-z], may_raise: [NOT_FOUND]}}"
    promised = load_text(text).get("a.b").definition
    assert promised.contract == VerbContract(("orch_x", "orch_y_z"), ("NOT_FOUND",))
    assert load_text("{name: a.b}").get("a.b").definition.contract is None
    assert domains.get("claims.create-claim").definition.contract == VerbContract((), ("DUPLICATE",))


LATER = (
    "timeout_text", "decision", "reevaluate", "is_shared", "task", "agent", "states_retry", "payload_merge",
    "alternatives", "unreachable",
)  # fmt: skip
"""Keys that older releases did not know: where they are not written, the hash is as it was."""


def test_a_promise_is_part_of_the_hash_and_its_absence_is_not() -> None:
    silent = load_text("{name: a.b}").get("a.b").definition
    promised = load_text("{name: a.b, contract: {}}").get("a.b").definition
    assert promised.content_hash != silent.content_hash
    whole = msgspec.to_builtins(silent)
    before = {key: value for key, value in whole.items() if key not in ("file", "line", "contract", "writes")}
    before["execution"] = {key: value for key, value in before["execution"].items() if key not in LATER}
    assert silent.content_hash == data_hash(before)


@pytest.mark.req("X14")
def test_the_retry_policy_of_a_sync_verb_counts_the_first_attempt(canonical: Catalogue) -> None:
    execution = canonical.get("lending.ask-for-papers").execution
    assert execution.retry == RetryPolicy(3, "linear", 1.0, 10.0, 0.0, ("transient_external",))
    assert (execution.redelivery, execution.compensate) == ("incident", "lending.withdraw-request")


def test_a_policy_says_how_long_an_engine_may_be_away() -> None:
    text = (
        "{name: a.b, execution: {kind: durable, process: p, policy: {unreachable: {timeout: PT1H, base_delay: PT2S}}}}"
    )
    policy = load_text(text).get("a.b").definition.execution.unreachable
    assert policy == UnreachablePolicy(3600.0, 2.0, 60.0)
    assert [policy.delay_seconds(tries) for tries in (1, 2, 3, 7)] == [2.0, 4.0, 8.0, 60.0]


def test_crud_commits_with_its_result_unless_told_otherwise(canonical: Catalogue) -> None:
    execution = canonical.get("lending.create-record").execution
    assert (execution.handler, execution.effects) == ("crud::execute", "store")
    assert canonical.entities["loan_application"].key == ("id",)
    assert canonical.entities["loan_application"].fields["state"].values == ("open", "closed")


@pytest.mark.req("X1")
def test_the_verb_list_with_domains_loads(tmp_path: Path) -> None:
    catalogue = load_catalogue([FIXTURES / "listed"])
    assert catalogue.names() == ["survey.ask_owner", "survey.set_plot_state", "survey.walk_neighbours"]
    asked = catalogue.get("survey.ask-owner").execution
    assert (asked.kind, asked.handler, asked.process) == ("durable", None, "ask_owner_v1")
    assert (asked.correlation_key, asked.timeout_seconds, asked.escalation) == (
        "$plot_id",
        14 * 86400,
        "ask_office_v1",
    )
    assert catalogue.get("survey.walk_neighbours").check_input({"code": "ABC123"}) == {"code": "ABC123", "max_depth": 5}


def test_the_map_of_domains_to_verbs_loads() -> None:
    catalogue = load_catalogue([FIXTURES / "domain_map"])
    assert catalogue.names() == ["letter.create", "letter.find", "letter.solicit", "letter.verify"]
    operations = {verb.name: verb.execution.params.get("operation") for verb in catalogue}
    assert operations == {
        "letter.create": "create",
        "letter.find": "list",
        "letter.solicit": None,
        "letter.verify": "update",
    }
    assert catalogue.get("letter.solicit").is_durable
    assert catalogue.get("letter.create").input.schema["required"] == ["letter_kind"]


def test_the_nested_domains_layout_loads_with_crud_plugin_and_workflow(domains: Catalogue) -> None:
    created = domains.get("claims.create-claim")
    assert created.execution.params == {
        "entity": "claim",
        "operation": "create",
        "set_values": {"status": "NEW"},
        "returning": "claim_id",
        "columns": {"holder": "holder_id"},
    }
    assert created.definition.output_schema is not None
    assert created.definition.output_schema["properties"] == {"claim_id": {"type": "string", "format": "uuid"}}
    assert created.definition.metadata["produces"] == {"type": "claim", "initial_state": "NEW"}
    assert domains.get("claims.look-up").execution.handler == "register.look_up"
    settled = domains.get("claims.settle").execution
    assert (settled.kind, settled.process, settled.wait) == ("durable", "settle-claim", "track")
    assert settled.correlation_key == "claim/{claim_id}"
    assert [flag.name for flag in settled.flags] == ["orch_outcome", "orch_urgent"]


def test_a_durable_block_with_task_bindings_lists_their_verbs(domains: Catalogue) -> None:
    execution = domains.get("claims.await-expert").execution
    assert execution.sub_verbs == ("claims.look-up",)
    assert (execution.correlation_key, execution.timeout_seconds, execution.escalation) == (
        "$claim_id",
        7 * 86400,
        "office",
    )


def test_promoting_a_verb_to_durable_changes_nothing_for_its_callers() -> None:
    before = load_text("- {name: a.b, input_schema: {properties: {x: {type: integer}}}}").get("a.b")
    text = "- {name: a.b, input_schema: {properties: {x: {type: integer}}}, execution: {kind: durable, process: p}}"
    after = load_text(text).get("a.b")
    assert before.check_input({"x": 1}) == after.check_input({"x": 1})
    assert before.input.schema == after.input.schema
    assert (before.is_durable, after.is_durable) == (False, True)
    assert before.content_hash != after.content_hash


@pytest.mark.parametrize(("written", "kind"), [("direct", "sync"), ("workflow", "durable")])
def test_the_other_words_for_the_two_kinds_are_understood(written: str, kind: str) -> None:
    catalogue = load_text(f"- {{name: a.b, execution: {{kind: {written}}}}}")
    assert catalogue.get("a.b").execution.kind == kind


def test_one_verb_alone_and_a_verbs_section_load_too() -> None:
    assert load_text("name: a.b\ndescription: alone\n").names() == ["a.b"]
    assert load_text("verbs:\n- name: a.b\n").names() == ["a.b"]
    assert load_text("").names() == []


def test_words_that_older_yaml_took_for_booleans_stay_text() -> None:
    catalogue = load_text("- {name: a.b, input_schema: {properties: {x: {enum: [yes, no, on, off, 2024-01-01]}}}}")
    assert catalogue.get("a.b").input.schema["properties"]["x"]["enum"] == ["yes", "no", "on", "off", "2024-01-01"]


def _blocks(file: str, after: str) -> list[str]:
    path = next(iter(sorted((SHARED / "seeds").glob(f"{file}*.txt"))))
    text = path.read_text()
    return re.findall(r"```yaml\n(.*?)```", text[text.index(after) :], re.DOTALL)


COMPANION = """
definitions: {LeiNode: {type: object}, ReviewPackage: {type: object}}
entities:
  kyc_case: {key: case_id, fields: {case_id: uuid, status: string}}
  document: {key: document_id, fields: {document_id: uuid}}
"""


@pytest.mark.req("X1")
@pytest.mark.req("X4")
@pytest.mark.parametrize(
    ("file", "after", "expected"),
    [
        ("001", "### 2.4", {"kyc.update_case_status", "kyc.await_compliance_review"}),
        ("002", "## DSL Verbs", {"document.solicit", "document.find"}),
    ],
)
def test_the_published_snippets_load_unchanged(
    file: str, after: str, expected: set[str], tmp_path: Path, shared_material: Path
) -> None:
    (tmp_path / "verbs.yaml").write_text(_blocks(file, after)[0])
    (tmp_path / "companion.yaml").write_text(COMPANION)
    assert expected <= set(load_catalogue([tmp_path]).names())
