"""The scene of process changes: a new version, a rejection that compensates, a runbook under way."""

from __future__ import annotations

from typing import Any

from perdure.demo.case_scene import LOOKS, ONBOARDING_CASE, PASSPORT, Case, standing
from perdure.demo.command_runner import Stage
from perdure.demo.terminal_conversation import Talk

ARTICLES = "DEMO00NORDLYSCAP0045/articles-of-association"
VARIABLES = {
    "entity_lei": "DEMO00NORDLYSCAP0045",
    "entity_id": "NORDLYS NO",
    "case_id": ONBOARDING_CASE,
    "client_contact": "post@nordlys.example",
}
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


def onboarding(stage: Stage) -> None:
    stage.step("Another plan, written down: what came too early is there when it is wanted")
    given = [word for name, value in VARIABLES.items() for word in ("--var", f"{name}={value}")]
    stage.run("run", "runbooks/corporate-onboarding.runbook", *given, "--case", ONBOARDING_CASE, is_quiet=True)
    (shown,) = stage.ask("runbook", "list", "--case", ONBOARDING_CASE)
    for _ in range(LOOKS):
        steps = {step["name"]: step["state"] for step in stage.ask("runbook", "show", shown["id"])["steps"]}
        if steps["await_compliance_review"] == "parked":
            break
    stage.run("runbook", "show", shown["id"])
    stage.promise(steps["docs"] == "completed", "asked for on day 9, uploaded on day 1: nobody had to wait")
    is_chosen = (steps["compile_ubo_report"], steps["request_additional_information"]) == ("completed", "skipped")
    stage.promise(is_chosen, "research in parallel, a decision, one branch taken and one left out")
    stage.promise(steps["await_compliance_review"] == "parked", "now it waits for compliance, as long as that takes")


def end_of_the_plan(stage: Stage, case: Case) -> None:
    stage.step("Ana comes back, and the plan is where she left it")
    (task,) = [each for each in stage.ask("tasks", "list") if each["key"].startswith(case.id)]
    fine = ("--data", '{"is_acceptable": true, "note": "left office in 2024"}')
    stage.run("tasks", "complete", task["key"], *fine, by="rita", groups="compliance", is_quiet=True)
    stage.run("complete", ARTICLES, "--result", '{"reference": "document://articles-1"}', is_quiet=True)
    with Talk(stage, "--resume", case.id) as talk:
        shown = talk.say("status")
    stage.promise(f"Runbook {case.id}: completed" in shown, "seven steps, six planned and one decided, are complete")
