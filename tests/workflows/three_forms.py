"""One process in Python, YAML and BPMN, and stories of it that are told alike whichever form is played.

python -m tests.workflows.three_forms FORM STORE ENGINE
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from perdure.app import Perdure
from perdure.bpmn.xml import read_model
from perdure.orchestration import (
    CallActivity,
    ExclusiveGateway,
    ParallelGateway,
    RetryPolicy,
    ScriptTask,
    ServiceTask,
    Timer,
    UserTask,
    Workflow,
    WorkflowContext,
    WorkflowEngine,
    WorkflowInstance,
)
from perdure.workflows.bpmn_reader import workflow_of
from perdure.workflows.conversion import FORMS, Form, convert
from perdure.workflows.yaml_reader import read_workflow

PATIENCE_SECONDS = 120
STORIES: dict[str, tuple[dict[str, Any], bool | None]] = {
    "small": ({"amount": 20}, None), "approved": ({"amount": 900}, True), "refused": ({"amount": 900}, False),
    "undone": ({"amount": 666}, True),
}  # fmt: skip
"""By name: the variables at the start, and what the person answers who is asked."""


async def assess(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"risk": "high" if inputs["amount"] > 500 else "low"}


def order(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"order": f"O-{inputs['amount']}"}


def cancel_order(context: WorkflowContext) -> None:
    context.set_variable("order", None)


def ship(inputs: dict[str, Any]) -> dict[str, Any]:
    if inputs["amount"] == 666:
        raise RuntimeError("no carrier takes it")
    return {"shipped": True}


def is_approved(context: WorkflowContext) -> bool:
    return bool(context["approve_decision"]["approved"])


def rate(context: WorkflowContext) -> int:
    return 5 if context["risk"] == "high" else 1


def grade() -> Workflow:
    workflow = Workflow("grade", variables={"risk": "string"})
    return workflow.start().then(ScriptTask("rate", rate, "grade")).end()


def purchase() -> Workflow:
    workflow = Workflow("purchase", "2.0-strict", variables={"amount": {"type": "integer", "required": True}})
    look = ServiceTask("assess", function=assess, input_variables=["amount"], output_variables=["risk"])
    graded = CallActivity("graded", "grade", output_variables=["grade"])
    much = ExclusiveGateway("much", {"ask": "grade > 2 and amount > 100"}, "buy")
    ask = UserTask("approve", title="Buy this?", body_template="{amount}: {risk}", assignee="ada")
    agreed = ExclusiveGateway("agreed", {"buy": is_approved}, "no")
    buy = ServiceTask(
        "order", function=order, input_variables=["amount"], output_variables=["order"], compensation=cancel_order
    )
    send = ServiceTask(
        "ship", function=ship, input_variables=["amount"], output_variables=["shipped"],
        retry_policy=RetryPolicy(2, jitter=0),
    )  # fmt: skip
    workflow.start().then(look).then(graded).then(much).route("buy", buy).route("ask", ask, agreed)
    for node in (ParallelGateway("fork"), ParallelGateway("meet", mode="join"), send, Timer("pause", duration="PT1S")):
        workflow.add_node(node)
    for source, target, route in (
        ("agreed", "order", "buy"), ("agreed", "end", "no"), ("order", "fork", ""), ("fork", "ship", ""),
        ("fork", "pause", ""), ("ship", "meet", ""), ("pause", "meet", ""), ("meet", "end", ""),
    ):  # fmt: skip
        workflow.add_edge(source, target, route=route)
    return workflow


def loaded(name: str) -> Any:
    module, _, wanted = name.rpartition(":")
    return getattr(import_module(module), wanted)


def in_form(form: Form) -> list[Workflow]:
    """Both workflows as they come back from being written in a form."""
    return [_read(convert(workflow, form).text, form) for workflow in (grade(), purchase())]


def _read(text: str, form: Form) -> Workflow:
    match form:
        case "python":
            return next(each for each in _imported(text) if isinstance(each, Workflow))
        case "yaml":
            return read_workflow(text, "purchase.yaml", loaded)
        case "bpmn":
            return workflow_of(read_model(text, "purchase.bpmn"), loaded)


def _imported(text: str) -> list[Any]:
    """The names of a program that our own writer wrote, imported from a file as its readers do."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "written.py").write_text(text, encoding="utf-8")
        spec = spec_from_file_location("written", Path(folder) / "written.py")
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return [*vars(module).values()]


async def told(instance: WorkflowInstance) -> dict[str, Any]:
    """What an instance came to: everything that does not depend on when it ran."""
    view, ran = await instance.view(), await instance.executions()
    return {
        "state": view.state, "data": view.data, "flags": view.flags,
        "ran": sorted([each.task, each.kind, each.actor, each.attempt, each.state, each.output] for each in ran),
    }  # fmt: skip


async def play(perdure: Perdure, go_on: Any) -> dict[str, Any]:
    """Every story; `go_on` lets an instance run until it rests."""
    engine, found = WorkflowEngine(perdure=perdure), {}
    for name, (variables, approved) in STORIES.items():
        instance = await engine.start_workflow("purchase", variables=variables)
        await go_on(instance)
        for task in await instance.tasks():
            await engine.complete_task(task.key, by="ada", approved=approved)
        await go_on(instance)
        found[name] = await told(instance)
    return found


async def main(form: Form, store: str, engine: str) -> dict[str, Any]:
    async with Perdure.open(store, workflows=in_form(form), engine=engine) as perdure:

        async def go_on(instance: WorkflowInstance) -> None:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (await instance.view()).is_ended and not await instance.tasks():
                    await perdure.runtime.driver.changed(0.05)

        return await play(perdure, go_on)


if __name__ == "__main__":
    wanted = next(each for each in FORMS if each == sys.argv[1])
    print("@" + json.dumps(asyncio.run(main(wanted, sys.argv[2], sys.argv[3]))), flush=True)
    os._exit(0)
