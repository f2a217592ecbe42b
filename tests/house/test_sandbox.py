"""The machines in the conditions of a Temporal workflow: imported in its sandbox, they decide there as outside."""

from __future__ import annotations

import ast
import subprocess
import sys

import msgspec

from tests.bpmn.machine.play import random_deployed

ROOM = """
import sys
from temporalio import workflow
from temporalio.worker.workflow_sandbox import SandboxRestrictions
from temporalio.worker.workflow_sandbox._importer import Importer
from temporalio.worker.workflow_sandbox._restrictions import RestrictionContext

import msgspec

importer = Importer(SandboxRestrictions.default.with_passthrough_modules("msgspec"), RestrictionContext())


def run(code, is_runtime):
    importer.restriction_context.is_runtime = is_runtime
    workflow.unsafe._set_in_sandbox(True)
    try:
        exec("with importer.applied():\\n" + "".join(f"  {line}\\n" for line in code.splitlines()), names)
    finally:
        workflow.unsafe._set_in_sandbox(False)
        importer.restriction_context.is_runtime = False


names = {"importer": importer, "text": sys.argv[3]}
run(sys.argv[1], False)
run(sys.argv[2], True)
"""
"""The sandbox as the SDK applies it to a workflow: first its module is imported, then it runs. No server is asked."""

IMPORTS = """
import perdure.access.machine
from perdure.bpmn.machine import commands as process_commands
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.execution_plan import plan_of
from perdure.bpmn.machine.process_machine import ProcessMachine
from perdure.journal import Origin
from perdure.runbooks.machine import commands
from perdure.runbooks.machine.runbook_machine import RunbookMachine
import msgspec
import sys as seen
"""

WORK = """
origin, id, hash = Origin("default", "somebody"), bytes(16), bytes(32)
def settled(machine, command):
    decision = machine.decide(id, None, command, origin, 1_000_000, 0.5)
    state = None
    for entry in decision.entries:
        state = machine.apply(state, entry)
    assert machine.decode(machine.encode(state)) == state
    body = machine.records.encode(1, "command", origin, decision.entries)
    assert tuple(machine.records.decode(body).entries) == tuple(decision.entries)
    return [type(entry).__name__ for entry in decision.entries]
plan = plan_of(msgspec.json.decode(text, type=Deployed), hash)
start = process_commands.StartInstance(definition=hash, process="p", process_version=1, head=hash)
call = commands.StartCall("desk.note", 1, hash, hash)
print(settled(InstanceMachine({hash: plan}, lambda *_: 0), start))
print(settled(RunbookMachine(), call))
print(sorted(name for name in seen.modules if name.startswith("perdure.")))
"""


def sandboxed(imports: str, work: str) -> subprocess.CompletedProcess[str]:
    text = msgspec.json.encode(random_deployed(7)).decode()
    command = [sys.executable, "-c", ROOM, imports.strip(), work.strip(), text]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_machines_are_imported_and_decide_in_the_sandbox_of_a_workflow() -> None:
    done = sandboxed(IMPORTS, WORK)
    assert done.returncode == 0, done.stderr
    instance, runbook, loaded = map(ast.literal_eval, done.stdout.splitlines())
    assert instance[0] == "InstanceStarted"
    assert runbook[0] == "CallStarted"
    assert "perdure.sources" not in loaded


def test_the_sandbox_refuses_what_draws_chance() -> None:
    done = sandboxed("import random", "random.random()")
    assert done.returncode != 0
    assert "RestrictedWorkflowAccessError" in done.stderr
