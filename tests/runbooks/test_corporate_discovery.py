"""A corporate KYC discovery from its program to its last decision: resumes, references, a failure, an alternative."""

from __future__ import annotations

from inspect import isawaitable
from typing import Any

import msgspec
import pytest

from perdure import Decide
from perdure.app.audit.store_audit import verify_store
from perdure.app.operations.runbooks import StartRunbook, start_runbook
from perdure.errors import BusinessError, RejectedError
from perdure.runbooks.language.formatter import format_program
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, load_text

DEFINITIONS = """
- name: research_gleif_hierarchy
  input_schema: {required: [lei], properties: {lei: {type: string, pattern: "^[A-Z0-9]{20}$"}}}
  output_schema: {type: object, properties: {subsidiaries: {type: array}}}
  execution: {kind: sync, effects: none}
- name: research_bloomberg_subsidiaries
  input_schema: {required: [entity_identifier], properties: {entity_identifier: {type: string}}}
  execution: {kind: sync, effects: none}
- name: research_voting_share_registry
  input_schema: {required: [entities], properties: {entities: {type: array}}}
  execution: {kind: sync, effects: none}
- name: research_company_officers
  input_schema: {required: [entities], properties: {entities: {type: array}}}
  execution: {kind: sync, effects: none}
- name: request_client_documents
  input_schema:
    required: [case_id, document_types, contact_email]
    properties:
      case_id: {type: string}
      document_types: {type: array, items: {type: string}}
      contact_email: {type: string, format: email}
  execution: {kind: durable, policy: {timeout: P14D}}
- name: evaluate_ubo_completeness
  sentences: {step: "Evaluate the chain of owners"}
  input_schema:
    required: [hierarchy, shares, officers, client_docs]
    properties:
      {hierarchy: {type: object}, shares: {type: object}, officers: {type: object}, client_docs: {type: object}}
  output_schema: {required: [complete], properties: {complete: {type: boolean}}}
  execution: {kind: sync, effects: none, decision: true}
- name: choose_other_source
  input_schema: {properties: {step: {type: string}, error: {type: string}}}
  execution: {kind: sync, effects: none, decision: true}
- name: search_registers
  input_schema: {required: [entities, source], properties: {entities: {type: array}, source: {type: string}}}
  execution: {kind: sync, effects: none}
- name: compile_ubo_report
  input_schema: {required: [case_id, data], properties: {case_id: {type: string}, data: {type: object}}}
  execution: {kind: sync, effects: none}
- name: await_compliance_review
  input_schema:
    required: [case_id, review_package]
    properties: {case_id: {type: string}, review_package: {type: object}}
  execution: {kind: durable, policy: {timeout: P7D}}
- name: request_additional_information
  input_schema: {required: [case_id, gaps], properties: {case_id: {type: string}, gaps: {type: array}}}
  execution: {kind: durable}
"""
PROGRAM = """
# Agent-generated runbook for corporate KYC discovery
LET gleif_result = EXEC research_gleif_hierarchy(lei: $entity_lei)
LET bloomberg_result = EXEC research_bloomberg_subsidiaries(entity_identifier: $entity_id)
    ON FAILURE decide choose_other_source

# These can run in parallel — no data dependency between them
LET shares = EXEC research_voting_share_registry(entities: gleif_result.subsidiaries)
LET officers = EXEC research_company_officers(entities: gleif_result.subsidiaries)
LET docs = EXEC request_client_documents(
    case_id: $case_id,
    document_types: ["certificate_of_incorporation", "shareholder_register"],
    contact_email: $client_contact
)

# Decision gate — agent evaluates completeness
LET decision = EXEC evaluate_ubo_completeness(
    hierarchy: gleif_result,
    shares: shares,
    officers: officers,
    client_docs: docs
) REEVALUATE always

# Final steps based on decision
IF decision.complete THEN
    EXEC compile_ubo_report(case_id: $case_id, data: decision.compiled_data)
    EXEC await_compliance_review(case_id: $case_id, review_package: decision.review_package)
ELSE
    EXEC request_additional_information(case_id: $case_id, gaps: decision.gaps)
END
"""
VARIABLES = {
    "entity_lei": "529900K9B0N5BT694847", "entity_id": "ALV GY", "case_id": "case-4711",
    "client_contact": "kyc@allianz.example",
}  # fmt: skip
SUBSIDIARIES = ["Allianz Global Investors", "PIMCO"]


class Researchers:
    """Handlers of the example; the decisions they are given are made in their order."""

    def __init__(self) -> None:
        self.asked: list[Call] = []
        media = {"verb": "search_registers", "name": "media", "after": ["shares"]}
        media["args"] = {"entities": {"@": "gleif_result.subsidiaries"}, "source": {"@": "shares.source"}}
        closing = {"verb": "search_registers", "name": "closing"}
        closing["args"] = {"entities": [{"@": "media.source"}], "source": {"@": "docs.certificate"}}
        found = {"complete": True, "compiled_data": {"owners": 2}, "review_package": {"pages": 9}}
        self.decisions = [Decide(found, add=[media], reason="names to look for"), Decide(found, add=[closing])]

    def bound(self) -> dict[str, Any]:
        return {
            "research_gleif_hierarchy": lambda call: {"subsidiaries": SUBSIDIARIES},
            "research_bloomberg_subsidiaries": self.refuse,
            "research_voting_share_registry": lambda call: {"source": "share register"},
            "research_company_officers": lambda call: {"people": 3},
            "evaluate_ubo_completeness": self.evaluate,
            "choose_other_source": self.choose,
            "search_registers": lambda call: {"source": call.args["source"]},
            "compile_ubo_report": lambda call: {"report": "r-1"},
        }

    def refuse(self, call: Call) -> dict[str, Any]:
        raise BusinessError("NO_LICENCE", "Bloomberg knows no such subscriber.")

    def choose(self, call: Call) -> Decide:
        self.asked.append(call)
        return Decide(
            {}, add='LET registers = EXEC search_registers(entities: gleif_result.subsidiaries, source: "EU")'
        )

    def evaluate(self, call: Call) -> Decide:
        self.asked.append(call)
        return self.decisions.pop(0)


def named(steps: list[Any]) -> dict[str, str]:
    return {each.name: each.state for each in steps}


@pytest.mark.req("X9", "X10", "X12", "X24", "X26")
async def test_the_corporate_discovery_resumes_decides_and_extends_itself_as_written(store_url: str) -> None:
    people = Researchers()
    async with Sandbox.open(store_url, definitions=load_text(DEFINITIONS), handlers=people.bound()) as sandbox:
        view = await sandbox.runbooks.start(PROGRAM, variables=VARIABLES, case="case-4711")
        await sandbox.run_until_idle()

        # Bloomberg refuses: the failure is handed to a decision, which adds another source with a reference.
        view = await sandbox.runbooks.show(view.id)
        (failure,) = people.asked
        assert failure.args == {"step": "bloomberg_result", "error": "Bloomberg knows no such subscriber."}
        told = failure.context.completed_step
        assert (told.name, told.state, told.error) == (
            "bloomberg_result",
            "failed",
            "Bloomberg knows no such subscriber.",
        )
        assert view.step("registers").args == {"entities": SUBSIDIARIES, "source": "EU"}
        assert (view.state, view.step("docs").state, view.step("decision").state) == ("parked", "parked", "pending")

        # The client uploads: the resume is the decision, asked once with all its arguments.
        await sandbox.complete(view.step("docs").waiting_for.key, {"certificate": "uploaded"})
        await sandbox.run_until_idle()
        _, first = people.asked
        arguments = {
            "hierarchy": {"subsidiaries": SUBSIDIARIES}, "shares": {"source": "share register"},
            "officers": {"people": 3}, "client_docs": {"certificate": "uploaded"},
        }  # fmt: skip
        assert first.args == arguments
        context = first.context
        assert msgspec.structs.asdict(context).keys() >= {
            "case_id", "runbook_id", "completed_step", "all_completed_results", "pending_steps", "next_ready_steps"
        }  # fmt: skip
        assert (context.case_id, context.runbook_id) == ("case-4711", view.id)
        assert (context.completed_step.name, context.completed_step.result) == ("docs", {"certificate": "uploaded"})
        assert {each.name: each.result for each in context.all_completed_results} == {
            "gleif_result": {"subsidiaries": SUBSIDIARIES}, "bloomberg_result/decision": {},
            "registers": {"source": "EU"}, "shares": {"source": "share register"}, "officers": {"people": 3},
            "docs": {"certificate": "uploaded"},
        }  # fmt: skip
        assert named(context.pending_steps) == {
            "compile_ubo_report": "pending", "await_compliance_review": "pending",
            "request_additional_information": "pending",
        }  # fmt: skip
        assert named(context.next_ready_steps) == {"choice": "pending"}

        # What it added took its references; the review waits.
        view = await sandbox.runbooks.show(view.id)
        assert view.step("media").args == {"entities": SUBSIDIARIES, "source": "share register"}
        assert (view.step("compile_ubo_report").state, view.step("await_compliance_review").state) == (
            "completed", "parked"
        )  # fmt: skip
        assert view.step("request_additional_information").state == "skipped"

        # The review resumes it: the decision is asked again, with its arguments and how far the runbook has come.
        await sandbox.complete(view.step("await_compliance_review").waiting_for.key, {"decision": "approved"})
        await sandbox.run_until_idle()
        again = people.asked[2]
        assert (again.args, again.context.completed_step.name) == (arguments, "await_compliance_review")
        assert {"decision", "media", "compile_ubo_report"} < set(named(again.context.all_completed_results))
        assert (again.context.pending_steps, again.context.next_ready_steps) == ([], [])
        done = await sandbox.runbooks.show(view.id)
        assert done.step("closing").args == {"entities": ["share register"], "source": "uploaded"}
        assert (done.state, named(done.steps)["await_compliance_review/resumed"]) == ("completed", "completed")
        assert (await verify_store(sandbox, {})).findings == []


@pytest.mark.req("X12")
@pytest.mark.parametrize("form", ["let", "lisp", "calls", "request", "verb", "start"])
async def test_every_resume_asks_the_decision_however_that_was_said(form: str) -> None:
    people = Researchers()
    people.decisions = [Decide({"complete": True}), Decide({"complete": True})]
    changed = DEFINITIONS
    if form == "verb":
        changed = changed.replace("decision: true}", "decision: true, reevaluate: always}", 1)
    asked = "(evaluate_ubo_completeness :hierarchy {} :shares {} :officers {} :client-docs {} :as @decision"
    wait = '(request_client_documents :case-id "c" :document-types [] :contact-email "a@b.example" :after [@decision]'
    how: dict[str, Any] = {"reevaluate": "always"} if form == "start" else {}
    program = f"{asked}{' :reevaluate always' if form in ('lisp', 'let') else ''})\n{wait} :as @docs)"
    if form == "let":
        program = format_program(program, to="let")
        assert "REEVALUATE always" in program
    async with Sandbox.open(definitions=load_text(changed), handlers=people.bound()) as sandbox:
        if form == "calls":
            args = {"hierarchy": {}, "shares": {}, "officers": {}, "client_docs": {}}
            more = {"case_id": "c", "document_types": [], "contact_email": "a@b.example"}
            calls = [
                {"verb": "evaluate_ubo_completeness", "name": "decision", "args": args, "reevaluate": "always"},
                {"verb": "request_client_documents", "name": "docs", "args": more, "after": ["decision"]},
            ]
            view = await sandbox._performer.ask(start_runbook, StartRunbook(calls=calls))
        elif form == "request":
            view = await sandbox._performer.ask(start_runbook, StartRunbook(program, reevaluate="always"))
        else:
            view = await sandbox.runbooks.start(program, **how)
        await sandbox.run_until_idle()
        await sandbox.complete(f"{view.id}:2", {})
        await sandbox.run_until_idle()
        assert [call.args for call in people.asked] == [
            {"hierarchy": {}, "shares": {}, "officers": {}, "client_docs": {}}
        ] * 2


@pytest.mark.req("X12")
async def test_a_resume_before_the_decision_has_its_arguments_is_told_and_holds_nothing_up(store_url: str) -> None:
    people = Researchers()
    people.decisions = [Decide({"complete": True})]
    program = """
    LET one = EXEC request_client_documents(case_id: "1", document_types: [], contact_email: "a@b.example")
    LET two = EXEC request_client_documents(case_id: "2", document_types: [], contact_email: "a@b.example") AFTER one
    LET decision = EXEC evaluate_ubo_completeness(hierarchy: one, shares: {}, officers: {}, client_docs: two)
        REEVALUATE always
    """
    async with Sandbox.open(store_url, definitions=load_text(DEFINITIONS), handlers=people.bound()) as sandbox:
        view = await sandbox.runbooks.start(program)
        await sandbox.run_until_idle()
        await sandbox.complete(f"{view.id}:1", {"paper": 1})
        await sandbox.run_until_idle()
        seen = await sandbox.runbooks.show(view.id)
        assert named(seen.steps) == {
            "one": "completed", "two": "parked", "decision": "pending", "one/resumed": "skipped"
        }  # fmt: skip
        events = [event async for event in sandbox.runbooks.events(view.id)]
        (skipped,) = [event for event in events if event.entry == "StepSkipped"]
        assert skipped.data["reason"] == "it was not asked: there is no value yet for client_docs"
        await sandbox.complete(f"{view.id}:2", {"paper": 2})
        await sandbox.run_until_idle()
        assert (await sandbox.runbooks.show(view.id)).state == "completed"
        assert len(people.asked) == 1


@pytest.mark.req("X12")
@pytest.mark.parametrize("wrong", [{"reevaluate": "sometimes"}, {"form": "prose"}])
async def test_a_word_that_nobody_knows_is_refused_with_those_there_are(wrong: dict[str, Any]) -> None:
    async with Sandbox.open(definitions=load_text("- {name: a.wait, execution: {kind: durable}}")) as sandbox:
        for ask in (sandbox.runbooks.start, sandbox.runbooks.compile, sandbox.runbooks.plan):
            with pytest.raises(RejectedError, match=r"Write (decisions or always|auto or .*)\."):
                await made if isawaitable(made := ask("(a.wait)", **wrong)) else None
        assert await sandbox.runbooks.list() == []
