"""SpiffWorkflow: the same process, its state saved to SQLite after every element or task, only at waits, or never."""

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
TASKS = frozenset({"assess", "prepare", "approve", "pack", "bill"})
WARM_UP = 5


class DoNothing(PythonScriptEngine):  # type: ignore[misc]
    """Its tasks only set the flag the gateway reads, as ours do: no script is compiled or run."""

    def execute(self, task: Any, script: str, external_context: Any = None) -> bool:
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
    each of those, `task` only after the five activities, `wait` at the person's task and the end, `memory` never.
    """

    def __init__(self, spec: Any, load: Load) -> None:
        self._spec, self._mode = spec, load.mode
        self._engine, self._serializer = DoNothing(), BpmnWorkflowSerializer()
        self._database = _open(load)
        self.each = 0

    def one(self, number: int) -> None:
        workflow = BpmnWorkflow(self._spec, script_engine=self._engine)
        self.each = 0
        self._go(number, workflow)
        if self._mode == "wait":
            self._save(number, workflow)
        task = workflow.get_next_task(state=TaskState.READY, manual=True)
        task.run()
        if self._mode in ("task", "every"):
            self._save(number, workflow)
        self._go(number, workflow)
        if self._mode == "wait":
            self._save(number, workflow)
        if not workflow.is_completed():
            raise SystemExit("Expected to measure a completed instance, but it has not come to its end.")

    def _go(self, number: int, workflow: Any) -> None:
        while (task := workflow.get_next_task(state=TaskState.READY, manual=False)) is not None:
            task.run()
            if self._mode == "every" or (self._mode == "task" and task.task_spec.name in TASKS):
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
