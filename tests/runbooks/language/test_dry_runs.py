"""What a plan would do is told before any of it is done."""

from __future__ import annotations

from perdure.runbooks.language.compiler import compile_program
from perdure.runbooks.language.dry_run import DryRun, Edge, dry_run
from perdure.verbs import load_text
from tests.runbooks.language.sample_verbs import catalogue

PROGRAM = """
LET h = EXEC research_gleif_hierarchy(lei: "x")
LET case = EXEC open-case(entity: h.subsidiaries, case_type: "new-client")
LET docs = EXEC request_client_documents(case_id: case.case_id, document_types: [], contact_email: "a@b.ch")
EXEC update_case_status(case_id: case.case_id, status: "open") AFTER docs
EXEC update_case_status(case_id: "c-7", status: "open")
IF case.number > 3 THEN
    EXEC send(to: 1) GATE "compliance"
    EXEC send(to: case) ON FAILURE ask
END
"""


def told(text: str = PROGRAM) -> DryRun:
    return dry_run(compile_program(text, catalogue()), catalogue())


def test_steps_that_can_run_together_are_one_wave() -> None:
    assert told().waves == (
        ("h", "update_case_status-2"),
        ("case",),
        ("docs", "choice"),
        ("update_case_status", "send"),
        ("send-2",),
    )
    assert told().order == tuple(name for wave in told().waves for name in wave)


def test_edges_say_why_a_step_waits() -> None:
    edges = told().edges
    assert [edge for edge in edges if edge.step == "update_case_status"] == [
        Edge("update_case_status", "case", "data"),
        Edge("update_case_status", "docs", "sequence"),
    ]
    assert [edge for edge in edges if edge.step == "send-2"] == [
        Edge("send-2", "case", "data"),
        Edge("send-2", "choice", "branch"),
        Edge("send-2", "send", "sequence"),
    ]
    assert Edge("choice", "case", "data") in edges


def test_what_is_written_is_told_as_far_as_it_is_known() -> None:
    assert told().writes == {
        "update_case_status": ("kyc_case/{case.case_id}",),
        "update_case_status-2": ("kyc_case/c-7",),
    }
    assert told().locks == ("kyc_case/c-7", "kyc_case/{case.case_id}")


def test_the_gravest_step_gives_the_tier_and_its_reason() -> None:
    assert (told().tier, told().tier_reason) == ("requires_authorisation", "case calls kyc.open-case")
    assert told("EXEC send()").tier == "benign"


def test_steps_that_may_wait_for_somebody_say_why() -> None:
    assert told().parks == {
        "docs": "kyc.request_client_documents waits for something outside",
        "send": "someone of compliance must agree",
        "send-2": "somebody is asked when it fails",
    }


def test_fields_that_no_schema_declares_are_remarked_on() -> None:
    assert told().remarks == ("case takes h.subsidiaries, which kyc.research_gleif_hierarchy does not declare",)


def test_a_program_of_ten_thousand_steps_and_a_thousand_beside_one_another_compiles() -> None:
    lines = [f'LET s{n} = EXEC update_case_status(case_id: "c-{n}", status: "open")' for n in range(1000)]
    lines += [f"LET s{n} = EXEC send(to: s{n - 1000}.x, count: 3) AFTER s{n - 999}" for n in range(1000, 9999)]
    lines.append(f"EXEC send(to: [{', '.join(f's{n}' for n in range(8999, 9999))}])")
    found = told("\n".join(lines))
    assert len(found.order) == 10_000
    assert len(found.waves[0]) == 1000
    assert len(found.locks) == 1000


def test_an_empty_plan_does_nothing() -> None:
    found = told("# nothing")
    assert (found.waves, found.edges, found.locks, found.tier) == ((), (), (), "benign")


RECORDS = """
entities:
  share: {key: [owner, company], fields: {owner: string, company: string, percent: integer}}
  note: {key: note_id, fields: {note_id: uuid, text: string}}
verbs:
  - name: share.set
    args: [{name: holder, type: string, maps_to: owner}, {name: company, type: string}, {name: percent, type: integer}]
    execution: {handler: "crud::execute", params: {entity: share, operation: upsert}}
  - name: share.show
    args: [{name: holder, type: string, maps_to: owner}, {name: company, type: string}]
    execution: {handler: "crud::execute", params: {entity: share, operation: read}}
  - name: note.add
    args: [{name: text, type: string}]
    execution: {handler: "crud::execute", params: {entity: note, operation: create}}
"""


def test_only_verbs_that_change_a_record_they_name_write_it() -> None:
    verbs = load_text(RECORDS)
    text = 'EXEC share.set(holder: "A", company: "B")\nEXEC share.show(holder: "A")\nEXEC note.add(text: "x")'
    plan = compile_program(text, verbs)
    assert [step.writes for step in plan.steps] == [("share/{holder}/{company}",), (), ()]
    assert dry_run(plan, verbs).locks == ("share/A/B",)
