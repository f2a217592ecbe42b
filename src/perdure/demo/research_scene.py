"""The opening scene: a project, a client whose name two entities have, a plan in sentences, and its findings."""

from __future__ import annotations

import json
from collections.abc import Iterable

from perdure.demo.case_scene import Case, standing
from perdure.demo.command_runner import Stage
from perdure.demo.example_project import begin
from perdure.demo.terminal_conversation import Talk

CLIENT = "DEMO00NORDLYSCAP0045"
GROUPS = (CLIENT, "DEMO00AURORASHIP0093", "DEMO00SKERRY00000078")
"""One entity of each group that is on record for who plays it."""


def project(stage: Stage) -> None:
    stage.step("A project: verbs in YAML, processes in BPMN, their work in Python")
    begin(stage.folder)
    stage.run("verbs", "lint")
    stage.run("packs", "lint")
    stage.run("prove", "models/kyc-open-case.bpmn", is_quiet=True)
    stage.promise(True, "every way through the process ends well: proved, before anything runs")


def record(stage: Stage, entities: Iterable[str]) -> None:
    """The groups of these entities, from the recordings of GLEIF into the records of the project."""
    for lei in entities:
        tree = stage.ask("call", "gleif.import-tree", f"lei={lei}")["result"]
        stage.ask("call", "graph.record-import", "--args", json.dumps({"tree": tree}))


def converse(stage: Stage) -> Case:
    """The plan is made, agreed to and run in a conversation."""
    record(stage, [CLIENT])
    stage.step("Ana says what she wants; what may mean two things is asked")
    with Talk(stage) as talk:
        asked = talk.say("start kyc for Nordlys Capital")
        stage.promise("Which 'Nordlys Capital' do you mean?" in asked, "two entities have that name: one question")
        talk.say("1")
        plan = talk.say("new client")
        chapters = [title for title in ("Discovery", "Case", "Documents") if title in plan]
        stage.promise(len(chapters) == 3, "the plan: six sentences in three chapters, and nothing has run yet")
        talk.say("yes")
        stage.begin_picture()
        stage.step("'run' runs it, and what it finds changes the plan")
        talk.say("run", last=3)
        talk.say("yes")
    (shown,) = stage.ask("runbook", "list")
    return discovered(stage, shown["id"])


def discovered(stage: Stage, runbook: str) -> Case:
    """What the plan found."""
    steps = {step["name"]: step.get("result") for step in stage.ask("runbook", "show", runbook)["steps"]}
    owners = [(owner["name"], owner["percent"]) for owner in steps["owners"]["report"]["owners"]]
    people = " and ".join(f"{name} {share} %" for name, share in owners)
    stage.promise(owners == [("Ingrid Solberg", "60"), ("Mikael Strand", "40")], f"owners in the end: {people}")
    stage.say(f"  ! {steps['owners']['warnings'][0]}", "yellow")
    stage.promise(
        "enhanced_due_diligence" in steps, "one is politically exposed: a decision added a step nobody planned"
    )
    (shown,) = stage.ask("instances", "list")
    instance = standing(stage, shown["id"], "wait_documents")
    return Case(runbook, instance["id"], instance["flags"]["orch_case_id"])
