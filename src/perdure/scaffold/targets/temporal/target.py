"""The Temporal target: which files a project has, and what fills their templates."""

from __future__ import annotations

from importlib.resources import files as resources
from string import Template

from perdure.bpmn import svg
from perdure.bpmn.contract import Contract
from perdure.bpmn.contract.policies import values
from perdure.scaffold.data_shapes import answer_of, request_of, result_of
from perdure.scaffold.identifiers import pascal, snake
from perdure.scaffold.project import Blueprint, Check, Lock, ProjectFile, with_header
from perdure.scaffold.python_source import call, imported, in_docstring, indented, quoted
from perdure.scaffold.targets.temporal.class_source import WorkflowModule
from perdure.scaffold.targets.temporal.expressions import Data, duration, template
from perdure.scaffold.targets.temporal.names import Names, names_of
from perdure.scaffold.targets.temporal.project_tests import body_test, gate_test, test_settings
from perdure.scaffold.targets.temporal.readme import readme
from perdure.scaffold.targets.temporal.records_source import dataclasses_of, imports_of

FUTURE = ["from __future__ import annotations", ""]


class TemporalTarget:
    """Writes a Python project for Temporal's SDK."""

    name = "temporal"

    def files(self, blueprint: Blueprint) -> list[ProjectFile]:
        """Every file of the project but the lock, in alphabetical order."""
        return sorted(_Project(blueprint).files(), key=lambda each: each.path)

    def body_path(self, lock: Lock, type: str) -> str:
        return f"src/{package_of(lock)}/activities/{lock.functions[type]}.py"

    def workflow_path(self, lock: Lock, number: int) -> str:
        return f"{self.generated_folder(lock)}/workflow_v{number}.py"

    def generated_folder(self, lock: Lock) -> str:
        return f"src/{package_of(lock)}/generated"

    def checks(self, lock: Lock, contract: Contract) -> list[Check]:
        names = names_of(contract)
        path = f"src/{package_of(lock)}/gates.py"
        return [Check(id, path, f"check_{names.methods[id]}") for id in contract.gates]


def package_of(lock: Lock) -> str:
    return snake(lock.process) or "process"


def fill(name: str, **values: str) -> str:
    """A template with its `$names` filled; every name must be given."""
    folder = resources("perdure.scaffold.targets.temporal") / "templates"
    return Template((folder / f"{name}.txt").read_text("utf-8")).substitute(values)


class _Project:
    def __init__(self, blueprint: Blueprint) -> None:
        self._blueprint = blueprint
        self._contract = blueprint.contract
        self._lock = blueprint.lock
        self._names: Names = names_of(blueprint.contract, blueprint.lock.functions, blueprint.lock.policies)
        self._package = self._names.package
        self._records = {record.name: record for record in blueprint.lock.records}

    def files(self) -> list[ProjectFile]:
        return [*self._generated(), *self._people(), *self._tests()]

    def _generated(self) -> list[ProjectFile]:
        version = self._lock.current()
        module = WorkflowModule(
            self._blueprint.model, self._contract, self._blueprint.shapes, self._names, version.program, version.number
        )
        texts = {
            "__init__.py": '"""What the scaffold writes and writes again."""\n',
            "runtime.py": fill("runtime.py", package=self._package),
            "envelope.py": fill("envelope.py"),
            "replay.py": fill("replay.py", package=self._package),
            "data.py": self._data(),
            "policies.py": self._policies(),
            "registry.py": self._registry(),
            "identity.py": self._identity(),
            f"workflow_v{version.number}.py": module.text(version.type),
        }
        if self._has_waits():
            texts["ingress.py"] = self._ingress()
        folder = f"src/{self._package}/generated"
        own = [self._written(f"{folder}/{name}", text) for name, text in texts.items()]
        drawing = svg.draw(self._blueprint.model)
        return [
            *own,
            self._written("README.md", readme(self._blueprint, self._names)),
            self._written("process.svg", drawing if drawing.endswith("\n") else drawing + "\n"),
        ]

    def _written(self, path: str, text: str) -> ProjectFile:
        return ProjectFile(path, with_header(path, text, self._lock.model), "tool")

    def _data(self) -> str:
        says = {"State": "What the process knows; a field that is None is unset."}
        for type in self._lock.functions:
            says[request_of(type)] = f"What {in_docstring(type)} is asked."
            says[result_of(type)] = f"What {in_docstring(type)} answers."
        for gate in self._contract.gates.values():
            says[answer_of(gate.update)] = f"The answer to: {in_docstring(gate.node.name or gate.node.id)}."
        records = self._lock.records
        lines = ['"""The data of the process. The model gives no types: literals that conditions compare tell them."""']
        lines += ["", *FUTURE, *imports_of(records), *dataclasses_of(records, says)]
        return "\n".join(lines) + "\n"

    def _policies(self) -> str:
        lines = ['"""Policies as the catalogue resolved them: how long work may take, how often it is tried."""', ""]
        lines += [*FUTURE, "from datetime import timedelta", ""]
        lines += ["from temporalio.common import RetryPolicy", "from temporalio.workflow import ActivityConfig"]
        for policy in sorted(self._blueprint.policies, key=lambda each: each.name):
            lines += ["", *self._policy(self._names.policies[policy.name], values(policy))]
        return "\n".join(lines) + "\n"

    def _policy(self, name: str, policy: dict[str, object]) -> list[str]:
        retry = policy["retry"]
        assert isinstance(retry, dict)
        arguments = [
            f"initial_interval={duration(retry['initial_interval'])}",
            f"backoff_coefficient={float(retry['backoff_coefficient'])}",
            f"maximum_interval={duration(retry['maximum_interval'])}",
            f"maximum_attempts={retry['maximum_attempts']}",
        ]
        if retry["non_retryable_error_types"]:
            arguments.append(
                f"non_retryable_error_types=[{', '.join(map(quoted, retry['non_retryable_error_types']))}]"
            )
        return [
            f"{name} = ActivityConfig(",
            f"    schedule_to_close_timeout={duration(_seconds(policy['schedule_to_close']))},",
            f"    start_to_close_timeout={duration(_seconds(policy['start_to_close']))},",
            "    retry_policy=RetryPolicy(",
            *indented([f"{each}," for each in arguments], 2),
            "    ),",
            ")",
        ]

    def _registry(self) -> str:
        waits = self._has_waits()
        functions = {type: self._lock.functions[type] for type in sorted(self._lock.functions)}
        lines = [
            '"""Everything a worker runs: workflows and the bodies of tasks, each of the type the model asks for."""'
        ]
        lines += ["", *FUTURE, "from typing import Any", "", *self._registry_imports(functions, waits=waits), ""]
        lines.append(f"TASK_QUEUE = {quoted(self._lock.first_type)}")
        types = [self._class(each.number) for each in reversed(self._lock.versions)]
        lines.append(f"WORKFLOWS: list[type[Any]] = [{', '.join([*types, *(['HeldMessage'] if waits else [])])}]")
        lines += ['"""The newest first: new instances are of its type."""', "BODIES: list[Body[Any, Any]] = ["]
        for type, name in functions.items():
            made = call(f"Body[{self._request(type)}, {self._result(type)}]", [name], ",", at=1)
            lines += indented(made)
        lines += ["]", "ACTIVITIES = [body.function for body in BODIES]"]
        lines += ["", "", "async def prepare(client: Client) -> None:"]
        lines += ['    """Make the server ready: what it has to know before the first instance."""']
        lines += ["    await add_search_attribute(client)"] if waits else []
        lines += ["", "", "def new_worker(client: Client, task_queue: str = TASK_QUEUE) -> Worker:"]
        lines += ['    """A worker for this process, not yet running."""']
        lines += ["    activities: list[Any] = [*ACTIVITIES, Delivery(client).deliver]"] if waits else []
        extra = "activities" if waits else "ACTIVITIES"
        lines += [f"    return Worker(client, task_queue=task_queue, workflows=WORKFLOWS, activities={extra})"]
        return "\n".join(lines) + "\n"

    def _registry_imports(self, functions: dict[str, str], *, waits: bool) -> list[str]:
        package = self._package
        lines = ["from temporalio.client import Client", "from temporalio.worker import Worker", ""]
        for name in sorted(functions.values()):
            lines += imported(f"{package}.activities.{name}", [name])
        records = {self._request(each) for each in functions} | {self._result(each) for each in functions}
        if functions:
            lines += imported(f"{package}.generated.data", sorted(records - {"None"}))
        if waits:
            lines.append(f"from {package}.generated.ingress import Delivery, HeldMessage, add_search_attribute")
        lines.append(f"from {package}.generated.runtime import Body")
        for each in self._lock.versions:
            lines += imported(f"{package}.generated.workflow_v{each.number}", [self._class(each.number)])
        return lines

    def _has_waits(self) -> bool:
        """Whether some version waits for messages."""
        bindings = (each for version in self._lock.versions for each in version.program.bindings.values())
        return any(each.startswith("message ") for each in bindings)

    def _class(self, number: int) -> str:
        first = pascal(self._lock.first_type) or "Process"
        return f"{first}V{number}" if number > 1 else first

    def _request(self, type: str) -> str:
        return request_of(type)

    def _result(self, type: str) -> str:
        found = self._records.get(result_of(type))
        return result_of(type) if found is not None and found.fields else "None"

    def _identity(self) -> str:
        version = self._lock.current()
        key = template(self._contract.workflow.workflow_id, Data(self._blueprint.shapes), state="state")
        used = [name for name in ("filled", "look", "text") if f"{name}(" in key]
        lines = ['"""Who an instance is: its workflow id follows from its state."""', "", *FUTURE]
        lines += [f"from {self._package}.generated.data import State"]
        lines += [f"from {self._package}.generated.runtime import {', '.join(used)}"] if used else []
        lines += ["", f"DEFINITION_ID = {quoted(self._contract.workflow.definition_id)}"]
        lines += [f"WORKFLOW_TYPE = {quoted(version.type)}", "", "", "def workflow_id(state: State) -> str:"]
        lines += [f'    """By the template {in_docstring(self._contract.workflow.workflow_id.text, 90)}"""']
        return "\n".join([*lines, f"    return {key}"]) + "\n"

    def _ingress(self) -> str:
        types = ", ".join(quoted(each.type) for each in self._lock.versions)
        types = f"{types}," if len(self._lock.versions) == 1 else types
        type = self._lock.first_type
        return fill("ingress.py", package=self._package, types=types, type=type)

    def _people(self) -> list[ProjectFile]:
        package, folder = self._package, f"src/{self._package}"
        found = {
            "pyproject.toml": fill("pyproject.toml", package=package, distribution=package.replace("_", "-")),
            f"{folder}/__init__.py": f'"""{in_docstring(self._contract.process.name or package, 80)}."""\n',
            f"{folder}/activities/__init__.py": '"""The bodies of tasks, one module each."""\n',
            f"{folder}/worker.py": fill("worker.py", package=package),
            f"{folder}/client.py": fill("client.py", package=package),
        }
        for type, name in self._current_functions().items():
            found[f"{folder}/activities/{name}.py"] = self._body(type, name)
        if self._contract.gates:
            found[f"{folder}/gates.py"] = self._gates()
        if self._has_waits():
            found[f"{folder}/routing.py"] = fill("routing.py", package=package)
        return [ProjectFile(path, text, "people") for path, text in found.items()]

    def _current_functions(self) -> dict[str, str]:
        used = {work.definition.type for work in self._contract.work.values()}
        return {type: self._lock.functions[type] for type in sorted(used)}

    def _body(self, type: str, name: str) -> str:
        records = sorted({self._request(type), self._result(type)} - {"None"})
        lines = [
            *imported(f"{self._package}.generated.data", records),
            f"from {self._package}.generated.runtime import Step",
        ]
        node = next(work.node for work in self._contract.work.values() if work.definition.type == type)
        head = call(
            f"async def {name}", [f"request: {self._request(type)}", "step: Step"], f" -> {self._result(type)}:"
        )
        missing = call("raise NotImplementedError", [quoted(f"Write the body of {type}.")], at=1)
        return fill(
            "activity.py", type=in_docstring(type), says=in_docstring(node.name or node.id), quoted=quoted(type),
            imports="\n".join(lines), body="\n".join([*head, *indented(missing)]),
        )  # fmt: skip

    def _gates(self) -> str:
        names = sorted({answer_of(each.update) for each in self._contract.gates.values()} | {"State"})
        lines = ['"""Which answers user tasks take: workflow code, so no clock, no chance, no network. Yours."""', ""]
        lines += [*FUTURE, *imported(f"{self._package}.generated.data", names)]
        for gate in self._contract.gates.values():
            name = self._names.methods[gate.node.id]
            lines += ["", "", f"def check_{name}(state: State, answer: {answer_of(gate.update)}) -> None:"]
            lines += [
                f'    """{in_docstring(gate.node.name or gate.node.id)}: raise ValueError for an answer to refuse."""'
            ]
            lines += [f'    raise NotImplementedError("Write check_{name} in src/{self._package}/gates.py.")']
        return "\n".join(lines) + "\n"

    def _tests(self) -> list[ProjectFile]:
        found = {"tests/conftest.py": test_settings(self._package)}
        for type, name in self._current_functions().items():
            found[f"tests/test_{name}.py"] = body_test(
                self._package, type, name, self._request(type), self._result(type)
            )
        if self._contract.gates:
            gates = [(self._names.methods[g.node.id], answer_of(g.update)) for g in self._contract.gates.values()]
            found["tests/test_gates.py"] = gate_test(self._package, gates)
        return [ProjectFile(path, text, "people") for path, text in found.items()]


def _seconds(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)
