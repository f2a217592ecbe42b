"""Programs of both forms become the same plan: steps, references, edges, branches, sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perdure.errors import ProgramError
from perdure.runbooks import plan as plans
from perdure.runbooks.language.compiler import compile_calls, compile_program
from perdure.runbooks.language.dry_run import dry_run
from perdure.runbooks.language.json_calls import calls_from_json
from perdure.runbooks.language.program import CallSource, Ref, Var
from perdure.runbooks.plan import Branch, Plan, Reference, StepPlan
from tests.runbooks.language.sample_verbs import catalogue

pytestmark = pytest.mark.req("X10")

VARIABLES = {"entity_lei": "529900X", "entity_id": "ALV", "case_id": "c-1", "client_contact": "ana@example.org"}


def steps(plan: Plan) -> dict[str, StepPlan]:
    return {step.name: step for step in plan.steps}


def compiled(text: str, **given: object) -> dict[str, StepPlan]:
    return steps(compile_program(text, catalogue(), **given))  # type: ignore[arg-type]


def test_the_published_program_compiles_exactly_as_written(shared_folder: Path) -> None:
    text = next(iter(sorted((shared_folder / "seeds").glob("001*.txt")))).read_text(encoding="utf-8")
    (program,) = re.findall(r"```dsl\n(.*?)```", text[text.index("### 6.1") :], re.DOTALL)
    plan = compile_program(program, catalogue(), variables=VARIABLES)
    found = steps(plan)
    assert list(found) == [
        "gleif_result", "bloomberg_result", "shares", "officers", "docs", "decision", "choice", "compile_ubo_report",
        "await_compliance_review", "request_additional_information",
    ]  # fmt: skip
    assert found["shares"].references == (Reference(("entities",), "gleif_result", ("subsidiaries",)),)
    assert found["choice"].condition == plans.Test("decision", ("complete",))
    assert found["await_compliance_review"].after == ("compile_ubo_report",)
    assert found["await_compliance_review"].branches == (Branch("choice", True),)
    assert found["request_additional_information"].branches == (Branch("choice", False),)
    assert found["gleif_result"].args == {"lei": "529900X"}


@pytest.mark.req("V1")
def test_both_forms_of_a_program_give_the_same_plan() -> None:
    lisp = compile_program(
        """
        ;; the same
        (entity.ensure-company :name "Nordlys" :as @co)
        (kyc.open-case :entity @co :case-type "new-client" :tags ["a" @co] :meta {:risk 3} :as @case :gate "compliance")
        (notice.send :to @case.case_id :after [@co] :on-failure continue)
        """,
        catalogue(),
    )
    let = compile_program(
        """
        # the same
        LET co = EXEC entity.ensure-company(name: "Nordlys")
        LET case = EXEC kyc.open-case(entity: co, case-type: "new-client", tags: ["a", co], meta: {risk: 3})
            GATE "compliance"
        EXEC notice.send(to: case.case_id) AFTER co ON FAILURE continue
        """,
        catalogue(),
    )
    assert lisp.steps == let.steps
    assert lisp.content_hash == let.content_hash


def test_references_leave_null_and_say_where_they_go() -> None:
    found = compiled(
        """
        LET case = EXEC open-case(entity: "x", case_type: "new-client")
        EXEC notice.send(to: {cases: [1, case.case_id], whole: case})
        """
    )["send"]
    assert found.args == {"to": {"cases": [1, None], "whole": None}}
    assert found.references == (
        Reference(("to", "cases", 1), "case", ("case_id",)),
        Reference(("to", "whole"), "case"),
    )


def test_places_in_a_list_are_part_of_a_path_in_both_forms() -> None:
    let = compiled('LET h = EXEC research_gleif_hierarchy(lei: "x")\nEXEC send(to: h.hierarchy[0].lei)')["send"]
    lisp = compiled('(research_gleif_hierarchy :lei "x" :as @h) (send :to @h.hierarchy.0.lei)')["send"]
    assert let.references == lisp.references == (Reference(("to",), "h", ("hierarchy", 0, "lei")),)


def test_nested_calls_become_earlier_steps_with_names_of_their_own() -> None:
    lisp = compiled('(send :to (ensure-company :name "A" :parent (ensure-company :name "B")))')
    let = compiled('EXEC send(to: ensure-company(name: "A", parent: EXEC ensure-company(name: "B")))')
    assert lisp == let
    assert list(lisp) == ["ensure-company", "ensure-company-2", "send"]
    assert lisp["ensure-company-2"].references == (Reference(("parent",), "ensure-company"),)
    assert lisp["send"].references == (Reference(("to",), "ensure-company-2"),)


def test_a_name_made_for_a_step_never_takes_one_that_somebody_chose() -> None:
    found = compiled("EXEC send(to: 1)\nLET send = EXEC send(to: 2)\nEXEC send(to: 3)\nLET send-2 = EXEC send(to: 4)")
    assert {name: step.args["to"] for name, step in found.items()} == {
        "send-3": 1, "send": 2, "send-4": 3, "send-2": 4,
    }  # fmt: skip


def test_a_result_may_be_used_above_the_call_that_gives_it() -> None:
    found = compiled('LET b = EXEC send(to: a)\nLET a = EXEC ensure-company(name: "x")')
    assert found["b"].references == (Reference(("to",), "a"),)


def test_nested_choices_keep_the_order_of_their_statements() -> None:
    found = compiled(
        """
        LET d = EXEC open-case(entity: 1, case_type: "new-client")
        IF d.number > 3 THEN
          LET one = EXEC send(to: 1)
          IF not (d.state == "open" or d.state in ["closed"]) THEN
            LET two = EXEC send(to: 2)
          END
          LET three = EXEC send(to: 3)
        END
        LET four = EXEC send(to: 4)
        """
    )
    outer, inner = Branch("choice", True), Branch("choice-2", True)
    assert (found["one"].branches, found["one"].after) == ((outer,), ())
    assert (found["choice-2"].branches, found["choice-2"].after) == ((outer,), ("one",))
    assert (found["two"].branches, found["two"].after) == ((outer, inner), ())
    assert (found["three"].branches, found["three"].after) == ((outer,), ("two", "choice-2"))
    assert (found["four"].branches, found["four"].after) == ((), ())


def test_variables_are_replaced_wherever_they_stand() -> None:
    given = {"client-name": "Nordlys", "who": {"mail": ["a@x.org", "b@x.org"]}, "most": 3}
    found = compiled(
        """
        LET co = EXEC ensure-company(name: $client_name)
        LET case = EXEC open-case(entity: $who.mail[1], case_type: "new-client")
        IF case.number > $most THEN EXEC send(to: [$who]) END
        """,
        variables=given,
    )
    assert found["co"].args == {"name": "Nordlys"}
    assert found["case"].args["entity"] == "b@x.org"
    assert found["choice"].condition == plans.Test("case", ("number",), ">", 3)
    assert found["send"].args == {"to": [{"mail": ["a@x.org", "b@x.org"]}]}


def test_steps_are_told_in_sentences_with_what_they_will_get() -> None:
    found = compiled(
        """
        LET co = EXEC ensure-company(name: "Nordlys")
        LET case = EXEC open-case(entity: co, case_type: "periodic-review")
        IF case.state == "open" and not case.number > 3 THEN
          EXEC update_case_status(case_id: case.case_id, status: "closed")
        END
        """
    )
    assert found["case"].sentence == "Open a periodic review case for the result of co"
    assert found["update_case_status"].sentence == "Set case case id to closed"
    assert found["choice"].sentence == 'Choose by whether case.state == "open" and not case.number > 3'


def test_a_crud_verb_writes_the_record_that_its_key_names() -> None:
    found = compiled('EXEC update_case_status(case_id: "c-1", status: "open")\nEXEC send()')
    assert found["update_case_status"].writes == ("kyc_case/{case_id}",)
    assert found["send"].writes == ()


def test_an_extension_refers_to_the_steps_before_it_and_changes_none() -> None:
    first = compile_program('LET co = EXEC ensure-company(name: "A")\nEXEC send(to: co)', catalogue())
    both = compile_program("EXEC send(to: send)\nEXEC send(to: co)", catalogue(), after=first)
    assert both.steps[:2] == first.steps
    assert [step.name for step in both.steps[2:]] == ["send-2", "send-3"]
    assert both.steps[2].references == (Reference(("to",), "send"),)
    assert both.content_hash != first.content_hash


def test_calls_given_as_values_compile_like_text() -> None:
    calls = [
        CallSource(verb="ensure-company", args={"name": Var("client")}, name="co", section="Parties"),
        CallSource(
            verb="kyc.open-case",
            args={"entity": Ref("co"), "case-type": "new-client", "tags": ["@co.name", Ref("co")]},
            name="case",
            provenance={"case-type": "template_default"},
        ),
        CallSource(verb="send", after=("case",), on_failure="ask", gate="ops"),
    ]
    found = steps(compile_calls(calls, catalogue(), variables={"client": "Nordlys"}))
    assert found["co"].section == "Parties"
    assert found["case"].args == {"entity": None, "case_type": "new-client", "tags": ["@co.name", None]}
    assert found["case"].provenance == {"case_type": "template_default"}
    assert (found["send"].after, found["send"].on_failure, found["send"].gate) == (("case",), "ask", "ops")
    assert found["co"].definition == catalogue().get("entity.ensure-company").content_hash


def test_faults_of_calls_name_the_number_of_the_call() -> None:
    calls = [
        CallSource(verb="send"),
        CallSource(verb="sendd", name="x"),
        CallSource(verb="send", args={"tto": Ref("y")}),
    ]
    with pytest.raises(ProgramError) as caught:
        compile_calls(calls, catalogue())
    assert [(problem.code, problem.line) for problem in caught.value.problems] == [
        ("DSL101", 2), ("DSL023", 3), ("DSL103", 3),
    ]  # fmt: skip


def test_an_empty_program_has_no_steps() -> None:
    assert compile_program("# nothing yet\n", catalogue()).steps == ()


def test_references_beside_the_arguments_go_where_they_say() -> None:
    references = (Reference(("entity",), "co"), Reference(("tags", 1), "co"))
    args = {"case_type": "new-client", "tags": ["a", None]}
    calls = [
        CallSource(verb="ensure-company", args={"name": "A"}, name="co"),
        CallSource(verb="open-case", args=args, references=references),
    ]
    made = compile_calls(calls, catalogue()).steps[1]
    assert made.args == {**args, "entity": None}
    assert set(made.references) == set(references)
    with pytest.raises(ProgramError) as caught:
        compile_calls([calls[0], CallSource(verb="send", references=(Reference(("to", 3), "co"),))], catalogue())
    assert [problem.code for problem in caught.value.problems] == ["DSL118"]


def test_calls_arrive_as_json() -> None:
    data = [
        {"verb": "ensure-company", "name": "co", "args": {"name": {"$": "client"}}},
        {"verb": "send", "args": {"to": [{"@": "co"}, {"@": "x", "y": 1}]}, "after": ["co"], "on_failure": "continue"},
    ]
    plan = compile_calls(calls_from_json(data), catalogue(), variables={"client": "A"})
    assert plan.steps[0].args == {"name": "A"}
    assert plan.steps[1].args == {"to": [None, {"@": "x", "y": 1}]}
    assert plan.steps[1].on_failure == "continue"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, "the calls are not a list"),
        ([7], "the call is not an object that names a verb"),
        ([{"verb": "send", "arg": {}}], "'arg' says nothing about a call"),
        ([{"verb": "send", "after": "co"}], "the call is malformed: Expected `array`, got `str` - at `$.after`"),
        ([{"verb": "send", "args": []}], "'args' is not an object"),
        ([{"verb": "send", "args": {"to": {"@": "a b"}}}], "'a b' names no result"),
        (
            [{"verb": "send", "on_failure": "panic"}],
            "the call is malformed: Invalid enum value 'panic' - at `$.on_failure`",
        ),
    ],
)
def test_malformed_calls_are_refused(data: object, told: str) -> None:
    with pytest.raises(ProgramError) as caught:
        calls_from_json(data)
    assert [problem.reason for problem in caught.value.problems] == [told]


def test_a_call_may_be_a_choice_and_others_its_branches() -> None:
    calls = [
        CallSource(verb="open-case", args={"entity": 1, "case_type": "new-client"}, name="case"),
        CallSource(name="is-big", condition=plans.Test("case", ("number",), ">", 3)),
        CallSource(verb="send", branches=(Branch("is-big", True),)),
    ]
    assert [step.branches for step in compile_calls(calls, catalogue()).steps][2] == (Branch("is-big", True),)
    with pytest.raises(ProgramError) as caught:
        compile_calls([CallSource(verb="send", branches=(Branch("is-small", True),))], catalogue())
    assert [problem.code for problem in caught.value.problems] == ["DSL117"]


def test_a_name_bound_in_both_branches_can_be_used_after_them() -> None:
    plan = compile_program(
        """
        LET c = EXEC open-case(entity: 1, case_type: "new-client")
        IF c.number > 3 THEN
            LET x = EXEC ensure-company(name: "A")
        ELSE
            IF c.state == "open" THEN
                LET x = EXEC ensure-company(name: "B")
            ELSE
                LET y = EXEC ensure-company(name: "C")
                LET x = EXEC ensure-company(name: y)
            END
            EXEC send(to: x)
        END
        EXEC send(to: x)
        """,
        catalogue(),
    )
    assert [step.name for step in plan.steps] == ["c", "choice", "x", "choice-2", "x", "y", "x", "send", "send-2"]
    assert plan.steps[-1].references == (Reference(("to",), "x"),)
    waves = dry_run(plan, catalogue()).waves
    assert [len(wave) for wave in waves] == [1, 1, 2, 2, 1, 2]
    assert compile_program("EXEC send(to: x)", catalogue(), after=plan).steps[-1].references


def test_a_name_bound_in_some_branches_only_cannot_be_used_after_them() -> None:
    text = """
        LET c = EXEC open-case(entity: 1, case_type: "new-client")
        IF c.number > 3 THEN
            LET x = EXEC ensure-company(name: "A")
        ELSE
            IF c.state == "open" THEN
                LET x = EXEC ensure-company(name: "B")
            END
        END
        EXEC send(to: x)
    """
    with pytest.raises(ProgramError) as caught:
        compile_program(text, catalogue())
    assert [(problem.code, problem.line) for problem in caught.value.problems] == [("DSL112", 10)]


def test_steps_of_exclusive_branches_never_wait_for_one_another() -> None:
    text = """
        LET c = EXEC open-case(entity: 1, case_type: "new-client")
        IF c.number > 3 THEN
            LET x = EXEC send(to: 1)
            LET y = EXEC send(to: x)
        ELSE
            LET y = EXEC send(to: 2)
            LET x = EXEC send(to: y)
        END
    """
    assert len(dry_run(compile_program(text, catalogue()), catalogue()).order) == 6


def test_a_wait_that_a_reference_says_already_is_not_said_twice() -> None:
    found = compiled('LET co = EXEC ensure-company(name: "A")\nLET x = EXEC send()\nEXEC send(to: co) AFTER co, x')
    assert found["send"].after == ("x",)
