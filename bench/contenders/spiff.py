"""SpiffWorkflow: the same process, its state saved to SQLite after every element or activity, at waits, or never."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from SpiffWorkflow.bpmn.parser import BpmnParser
from SpiffWorkflow.bpmn.script_engine import PythonScriptEngine
from SpiffWorkflow.bpmn.serializer import BpmnWorkflowSerializer
from SpiffWorkflow.bpmn.workflow import BpmnWorkflow
from SpiffWorkflow.util.task import TaskState

from bench.load import Durability, Load, Sample, require_durability

MODEL = Path(__file__).resolve().parent.parent / "peers.bpmn"
RESULTS = {"assess": "assessed", "prepare": "prepared", "approve": "approved", "pack": "packed", "bill": "billed"}
"""The tasks, and what each adds to the data: the same as with us."""
WARM_UP = 5


class DoNothing(PythonScriptEngine):  # type: ignore[misc]
    """Its tasks only add their result, and the first the flag the gateway reads: no script is compiled or run."""

    def execute(self, task: Any, script: str, external_context: Any = None) -> bool:
        name = task.task_spec.name
        task.data[RESULTS[name]] = True
        if name == "assess":
            task.data["orch_small"] = True
        return True

    def evaluate(self, task: Any, expression: str, external_context: Any = None) -> bool:
        return bool(task.data.get("orch_small"))


def process(load: Load) -> Sample:
    """Instances one after another: nothing in it waits for the disk together with another, so order costs nothing."""
    parser = BpmnParser()
    parser.add_bpmn_file(str(MODEL))
    runs = Runs(parser.get_spec("bench"), load)
    for number in range(WARM_UP):
        runs.one(number)
    done, began = 0, time.perf_counter()
    while done < load.count and time.perf_counter() - began < load.seconds:
        runs.one(WARM_UP + done)
        done += 1
    elapsed = time.perf_counter() - began
    return {"runs": done, "seconds": elapsed, "instances_per_second": done / elapsed, "saves_per_instance": runs.each}


class Runs:
    """Runs instances and saves them as the mode says.

    Its own word "task" means every element it runs, start, gateways, joins and ends among them: `every` saves after
    each of those. `task` saves whenever we commit: when an instance has begun, after each of the five activities
    together with the gateways and ends that follow it. `wait` saves at the person's task and the end, `memory` never.
    """

    def __init__(self, spec: Any, load: Load) -> None:
        self._spec, self._mode = spec, load.mode
        self._engine, self._serializer = DoNothing(), BpmnWorkflowSerializer()
        self._database = _open(load)
        self.each = 0

    def one(self, number: int) -> None:
        workflow = BpmnWorkflow(self._spec, script_engine=self._engine)
        workflow.get_next_task(state=TaskState.READY).data["reference"] = f"order {number}"
        self.each = 0
        self._go(number, workflow)
        task = workflow.get_next_task(state=TaskState.READY, manual=True)
        task.data[RESULTS["approve"]] = True
        task.run()
        if self._mode == "every":
            self._save(number, workflow)
        self._go(number, workflow)
        if not workflow.is_completed() or not workflow.data["reference"]:
            raise SystemExit("Expected to measure a completed instance with its data, but it has not come to its end.")

    def _go(self, number: int, workflow: Any) -> None:
        """Run until a person is asked or nothing is left; the next activity is where what came before it is saved."""
        while (task := workflow.get_next_task(state=TaskState.READY, manual=False)) is not None:
            if self._mode == "task" and task.task_spec.name in RESULTS:
                self._save(number, workflow)
            task.run()
            if self._mode == "every":
                self._save(number, workflow)
        if self._mode in ("task", "wait"):
            self._save(number, workflow)

    def _save(self, number: int, workflow: Any) -> None:
        text = self._serializer.serialize_json(workflow)
        self._database.execute(
            "INSERT INTO instance VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state", (number, text)
        )
        self.each += 1


def _open(load: Load) -> sqlite3.Connection:
    database = sqlite3.connect(load.url.removeprefix("sqlite:///"), isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE instance (id INTEGER PRIMARY KEY, state TEXT)")
    journal, synchronous = (
        str(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("journal_mode", "synchronous")
    )
    require_durability("sqlite", Durability(journal, synchronous))
    return database
