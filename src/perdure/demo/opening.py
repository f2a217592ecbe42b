"""How it begins: a project, a client whose name two entities have, their owners, and a case."""

from __future__ import annotations

import json
from collections.abc import Iterable

from perdure.demo.case import Case, standing
from perdure.demo.project import begin
from perdure.demo.stage import Stage

CLIENT = "Nordlys Capital AS"
GROUPS = ("DEMO00NORDLYSCAP0045", "DEMO00AURORASHIP0093", "DEMO00SKERRY00000078")
"""One entity of each group that is on record before the story begins."""


def project(stage: Stage) -> None:
    stage.step("A project: verbs in YAML, processes in BPMN, their work in Python")
    begin(stage.folder)
    stage.run("verbs", "lint")
    stage.run("prove", "models/kyc-open-case.bpmn")


def record(stage: Stage, entities: Iterable[str]) -> None:
    """The groups of these entities, from the recordings of GLEIF into the records of the project."""
    for lei in entities:
        tree = stage.ask("call", "gleif.import-tree", f"lei={lei}")["result"]
        stage.ask("call", "graph.record-import", "--args", json.dumps({"tree": tree}))


def discover(stage: Stage) -> Case:
    stage.step("Who owns Nordlys Capital?")
    stage.run("call", "ubo.discover", "entity=Nordlys Capital", exit_code=1)
    found = stage.ask("call", "ubo.discover", f"entity={CLIENT}")["result"]
    shares = [(owner["name"], owner["percent"]) for owner in found["report"]["owners"]]
    stage.promise(shares == [("Ingrid Solberg", "60"), ("Mikael Strand", "40")], "two persons, 60 % and 40 %")
    stage.say(f"  ! {found['warnings'][0]}", "yellow")
    stage.run("call", "kyc.open-case", f"entity={CLIENT}", "case_type=new-client")
    (shown,) = stage.ask("instances", "list")
    instance = standing(stage, shown["id"], "wait_documents")
    return Case(instance["business_key"], instance["id"], instance["flags"]["orch_case_id"])
