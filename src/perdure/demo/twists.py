"""What else happens: a new version of the process, a rejection that undoes what was done, a runbook on its way."""

from __future__ import annotations

from typing import Any

from perdure.demo.case import PASSPORT, Case, standing
from perdure.demo.stage import Stage

MODEL = "models/kyc-open-case.bpmn"
REJECTED = '{"outcome": "rejected", "reason": "the owners cannot be verified"}'


def open_case(stage: Stage, entity: str, kind: str) -> Case:
    """Another case, by a single call."""
    call = stage.ask("call", "kyc.open-case", f"entity={entity}", f"case_type={kind}")
    shown = stage.ask("status", call["id"])
    instance = standing(stage, shown["carrier"]["instance"], "wait_documents")
    return Case(call["id"], instance["id"], instance["flags"]["orch_case_id"])


def new_version(stage: Stage) -> Case:
    stage.step("The process changes while a case is on its way")
    old = open_case(stage, "Aurora Shipping ASA", "periodic-review")
    file = stage.folder / MODEL
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("R3/P3D", "R3/P2D"), encoding="utf-8")
    stage.say("  models/kyc-open-case.bpmn: the client is reminded every 2 days instead of every 3")
    stage.run("deploy", MODEL)
    new = open_case(stage, "Skerry Ventures AS", "periodic-review")
    versions = [stage.ask("instances", "show", each.instance)["version"] for each in (old, new)]
    stage.promise(versions == [1, 2], "linted and proved, it is version 2; who began with version 1 stays on it")
    return old


def rejected(stage: Stage, case: Case) -> None:
    stage.step("Rejected: what was asked for is taken back")
    asked = _documents(stage, case)
    stage.run("message", "publish", "docs_received", case.number, "--data", PASSPORT, "--id", "mail-4", is_quiet=True)
    (token,) = [each for each in standing(stage, case.instance, "review")["tokens"] if each["element"] == "review"]
    key = f"{case.instance}:{token['number']}"
    stage.run("tasks", "complete", key, "--data", REJECTED, by="rita", groups="compliance", is_quiet=True)
    stage.run("status", case.id)
    told = stage.ask("status", case.id)
    stage.promise(told["result"]["review_decision"] == "rejected", "the case is rejected, and its call says so")
    withdrawn = _documents(stage, case)
    stage.promise(
        set(withdrawn.values()) == {"withdrawn"} and withdrawn.keys() == asked.keys(),
        "compensation withdrew every document that was asked for",
    )


def _documents(stage: Stage, case: Case) -> dict[str, str]:
    found: list[dict[str, Any]] = stage.ask("call", "kyc.list-documents", f"case_id={case.number}")["result"]["records"]
    return {each["document"]: each["status"] for each in found}
