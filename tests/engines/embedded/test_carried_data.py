"""What sub-verbs write: held to the schema of the durable verb, and merged by its rules where branches meet."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Call
from perdure.errors import DefinitionError
from perdure.verbs import load_text
from tests.engines.embedded.carried_world import carried, settled

VERBS = """
- {{name: d.first, execution: {{kind: sync, effects: none}}}}
- {{name: d.second, execution: {{kind: sync, effects: none}}}}
- name: d.open
  input_schema: {{properties: {{entity: {{type: string}}, total: {{type: integer}}}}}}
  output_schema:
    required: [case]
    properties:
      case_id: {{type: uuid}}
      total: {{type: integer}}
      case: {{type: object, required: [score, owner], properties: {{score: {{type: number}}, owner: {{type: string}}}}}}
  execution: {{kind: durable, process: opening, sub_verbs: [d.first, d.second], payload: {payload}}}
"""
LINE = """
== opening
start s
service a d.first
service b d.second
end e
s > a > b > e
"""
FORK = """
== opening
start s
and split
service a d.first
service b d.second
and join
end e
s > split > a > join > e
split > b > join
"""
WHOLE = {"score": 2, "owner": "ana"}


def giving(**results: dict[str, Any]) -> dict[str, Any]:
    """Handlers that give back what is said, and add to `total` what `add` says."""

    def handler(name: str) -> Any:
        async def give(call: Call) -> dict[str, Any]:
            result = dict(results[name])
            if "add" in result:
                result["total"] = call.args.get("total", 0) + result.pop("add")
            return result

        return give

    return {f"d.{name}": handler(name) for name in results}


@pytest.mark.both_stores
@pytest.mark.req("V4", "V14")
@pytest.mark.parametrize(
    ("wrong", "path"),
    [({"case_id": "notuuid"}, "$.case_id"), ({"case": {"score": "high"}}, "$.case.score"), ({"entity": 7}, "$.entity")],
)
async def test_a_sub_verb_that_breaks_the_schema_of_its_durable_verb_stops_there_and_is_named(
    store_url: str, wrong: dict[str, Any], path: str
) -> None:
    handlers = giving(first=wrong, second={"case": WHOLE})
    async with carried(store_url, VERBS.format(payload="{}"), LINE, handlers) as sandbox:
        call = await settled(sandbox, "d.open", {"entity": "Allianz"})
        (stuck,) = await sandbox.instances.list()
        shown = await sandbox.instances.get(stuck.id)
        assert [token.element for token in shown.tokens] == ["a"], "nothing goes on with such data"
        (incident,) = shown.incidents
        assert incident.code == "job.contract"
        assert "'d.first'" in incident.text and path in incident.text and "d.open" in incident.text
        assert call.waiting_for.kind == "incident"
        assert shown.data == {"entity": "Allianz"}


@pytest.mark.req("V4")
async def test_an_object_may_be_written_bit_by_bit_before_it_is_whole(sqlite_url: str) -> None:
    handlers = giving(first={"case": {"score": 2}}, second={"case": {"owner": "ana"}})
    async with carried(sqlite_url, VERBS.format(payload="{}"), LINE, handlers) as sandbox:
        call = await settled(sandbox, "d.open", {"entity": "Allianz"})
        assert (call.state, call.result["case"]) == ("completed", WHOLE)


@pytest.mark.both_stores
@pytest.mark.req("V33")
@pytest.mark.parametrize(
    "payload", ["{merge: {total: sum, case.score: max}}", "{merge: {/total: sum, /case/score: max}}"]
)
async def test_branches_that_write_one_path_are_merged_by_its_declared_rule(store_url: str, payload: str) -> None:
    handlers = giving(
        first={"add": 5, "case": {"score": 2, "owner": "ana"}}, second={"add": 7, "case": {"score": 9}}
    )  # fmt: skip
    async with carried(store_url, VERBS.format(payload=payload), FORK, handlers) as sandbox:
        call = await settled(sandbox, "d.open", {"entity": "Allianz", "total": 100})
        assert call.state == "completed", call
        assert call.result == {"total": 112, "case": {"score": 9, "owner": "ana"}}
        assert (await sandbox.processes.get("opening")).merge == {"/total": "sum", "/case/score": "max"}


@pytest.mark.req("V33")
async def test_the_conflict_of_two_branches_shows_what_to_write_where(sqlite_url: str) -> None:
    handlers = giving(first={"add": 5}, second={"add": 7})
    async with carried(sqlite_url, VERBS.format(payload="{}"), FORK, handlers) as sandbox:
        await settled(sandbox, "d.open", {"entity": "Allianz", "total": 100})
        (stuck,) = await sandbox.instances.list()
        (incident,) = (await sandbox.instances.get(stuck.id)).incidents
        assert "payload: {merge: {/total: sum}}" in incident.text


ROUTED = """
- {name: d.first, execution: {kind: sync, effects: none}}
- {name: d.second, execution: {kind: sync, effects: none}}
- name: d.open
  input_schema:
    required: [case-type]
    properties: {case-type: {type: string, enum: [new-client, review]}, urgent: {type: boolean, default: true}}
  execution:
    kind: durable
    process: opening
    sub_verbs: [d.first, d.second]
    payload: {in: {kind: $case-type}}
    flags:
      orch_case_type: {type: enum, values: [new-client, review, other], initial: $case-type}
      orch_urgent: {type: boolean, initial: $urgent}
"""
CHOICE = """
== opening
start s
xor way
service a d.first
service b d.second
end e
s > way
way > a if orch_case_type = "review" and orch_urgent = true
way > b default
a > e
b > e
"""


@pytest.mark.both_stores
@pytest.mark.req("V38")
async def test_a_flag_may_begin_with_an_argument_of_the_call(store_url: str) -> None:
    handlers = giving(first={"way": "a"}, second={"way": "b"})
    async with carried(store_url, ROUTED, CHOICE, handlers) as sandbox:
        taken = [
            (await settled(sandbox, "d.open", args)).result["way"]
            for args in ({"case-type": "review"}, {"case-type": "new-client"}, {"case-type": "review", "urgent": False})
        ]
        assert taken == ["a", "b", "b"]
        proof = (await sandbox.processes.show("opening")).verdict
        assert proof is not None and proof.verdict == "proved", "whatever value the flag begins with"


@pytest.mark.req("V3", "V38")
@pytest.mark.parametrize(
    ("initial", "reason"),
    [
        ("$nobody", "begins with 'nobody', which is not an argument"),
        ("$note", "begins with 'note', which may be absent"),
        ("$number", "is enum and cannot hold every 'number'"),
    ],
)
def test_an_argument_that_a_flag_cannot_begin_with_is_refused(initial: str, reason: str) -> None:
    text = ROUTED.replace("initial: $case-type", f"initial: {initial}").replace(
        "{case-type:", "{number: {type: integer, default: 1}, note: {type: string, enum: [review]}, case-type:"
    )
    with pytest.raises(DefinitionError) as refused:
        load_text(text)
    (problem,) = refused.value.problems
    assert reason in problem.reason and problem.line > 1
    assert "merges" not in reason or "total" in problem.hint or "score" in problem.hint


@pytest.mark.req("V3", "V33")
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("{merge: {total: first}}", "'first' is not one of any, all, sum, max"),
        ("{merge: {case.owner: sum}}", "'/case/owner' is string, which cannot merge by 'sum'"),
        ("{merge: {total: sum, /total: max}}", "the path '/total' is given twice"),
        ("{merge: {totl: sum}}", "'/totl' merges 'totl', which no schema of the verb declares"),
        ("{merge: {case.scor: sum}}", "'/case/scor' merges 'scor', which no schema of the verb declares"),
        ("{merge: {case..owner: sum}}", "the path 'case..owner' names no field"),
    ],
)
def test_a_merge_rule_that_cannot_hold_is_refused_where_it_is_written(payload: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        load_text(VERBS.format(payload=payload))
    (problem,) = refused.value.problems
    assert reason in problem.reason and problem.line > 1
