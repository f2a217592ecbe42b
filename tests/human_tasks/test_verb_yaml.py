"""`execution.task` of a durable verb: read strictly, filled from arguments, and absent without a trace."""

from __future__ import annotations

import msgspec
import pytest

from perdure.errors import DefinitionError
from perdure.human_tasks import SECOND, RungRule, TaskContract, joint_groups
from perdure.verbs import load_text
from perdure.verbs.definition import VerbDefinition
from perdure.verbs.task_section_reader import filled

DAY = 86_400 * SECOND
VERB = """
- name: loan.approve
  input_schema: {{required: [reviewer], properties: {{reviewer: {{type: string}}, teams: {{type: array}}}}}}
  execution: {{kind: {kind}, {task}}}
"""
WHOLE = """task: {title: "Approve for {reviewer}", assignee: "{reviewer}", groups: [loans, "{teams}"], due: P3D,
      four_eyes: true, ladder: [{after: P2D, reassign: seniors}, {after: P1D, remind: true},
      {after: P4D, escalate: "user:boss"}]}"""


def contract(task: str, kind: str = "durable") -> TaskContract | None:
    return load_text(VERB.format(kind=kind, task=task)).get("loan.approve").definition.execution.task


@pytest.mark.req("V20")
def test_a_durable_verb_declares_the_task_it_is_while_it_waits() -> None:
    found = contract(WHOLE)
    assert found == TaskContract(
        title="Approve for {reviewer}", assignee="{reviewer}", groups=("loans", "{teams}"), due="P3D", four_eyes=True,
        ladder=(
            RungRule(DAY, "remind"), RungRule(2 * DAY, "reassign", "seniors"),
            RungRule(4 * DAY, "escalate", "", "boss"),
        ),
    )  # fmt: skip
    assert found is not None
    told = filled(found, {"reviewer": "ana", "teams": ["a", "b"]})
    assert (told.title, told.assignee, told.groups) == ("Approve for ana", "ana", ("loans", "a", "b"))
    assert filled(found, {"reviewer": "{teams}"}).assignee == "{teams}", "what comes in is no template"


@pytest.mark.req("V20")
def test_a_verb_without_a_task_keeps_the_hash_it_had() -> None:
    plain = load_text("- {name: a.b, execution: {kind: durable}}").get("a.b").definition
    assert plain.execution.task is None
    assert plain.content_hash == "sha256:936d0b5ed6f8437082454d3ff862b01b16fba4980553f8838f75214f7d2fbefc"
    other = load_text("- {name: a.b, execution: {kind: durable, task: {groups: [x]}}}").get("a.b").definition
    assert other.content_hash != plain.content_hash


@pytest.mark.req("V20")
def test_a_ladder_counts_months_and_only_then_changes_the_hash() -> None:
    text = "- {{name: a.b, execution: {{kind: durable, task: {{ladder: [{{after: {0}, remind: true}}]}}}}}}"
    days, month = (load_text(text.format(after)).get("a.b").definition for after in ("P1D", "P1M"))
    assert days.content_hash == "sha256:fc4b9016d29bd7d7ff0c45cb8b524e1fa3eac4543d821861c94b86a0c16ad7f7"
    assert month.execution.task == TaskContract(ladder=(RungRule("P1M", "remind"),))
    assert msgspec.json.decode(msgspec.json.encode(month), type=VerbDefinition) == month


@pytest.mark.parametrize(
    ("task", "says"),
    [
        ("task: {assigne: ana}", "assigne"), ("task: {four_eyes: perhaps}", "true or false"),
        ("task: {due: soon}", "neither a date"), ("task: {assignee: '{nobody}'}", "not an argument"),
        ("task: {ladder: [{after: P1D}]}", "one of remind"), ("task: {ladder: [{remind: true}]}", "one of remind"),
        ("task: {ladder: [{after: soon, remind: true}]}", "not a duration"),
        ("task: {ladder: [{after: P1D, remind: true, escalate: x}]}", "one of remind"),
        ("task: {ladder: [{after: P1D, escalate: ''}]}", "to whom"), ("task: {ladder: nothing}", "a list"),
        ("task: {groups: [a +]}", "no name"), ("task: {groups: [a + b, c]}", "comma"),
        ("process: p, task: {assignee: ana}", "tasks of its own"), ("task: [1]", "a mapping"),
    ],
)  # fmt: skip
@pytest.mark.req("V20")
def test_a_task_that_is_declared_wrongly_is_refused_with_its_place(task: str, says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        contract(task)


@pytest.mark.req("V36")
@pytest.mark.parametrize("region", ["", "x, friends", "x + friends"])
def test_an_argument_names_one_of_several_groups_and_never_leaves_one_out(region: str) -> None:
    declared = TaskContract(groups=("{region} + compliance",))
    (group,) = filled(declared, {"region": region}).groups
    assert len(joint_groups((group,))) == 2 and "compliance" in joint_groups((group,)) and "," not in group


def test_a_sync_verb_waits_for_nobody_and_has_no_task() -> None:
    with pytest.raises(DefinitionError, match="belongs to a durable verb"):
        contract("task: {assignee: ana}", kind="sync")
