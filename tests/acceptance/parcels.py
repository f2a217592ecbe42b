"""A project with processes: parcels that are packed, paid for, checked, called out and shipped."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from perdure.bpmn.xml import write_model
from tests.acceptance.commands import Shell
from tests.scenarios.sketch import sketches

DEFINITIONS = """
- name: desk.pack
  execution: {kind: sync, effects: none}
- name: desk.ship
  output_schema: {required: [shipped], properties: {shipped: {type: boolean}}}
  execution: {kind: sync, effects: external}
- name: desk.send
  input_schema: {properties: {number: {type: string}}}
  output_schema: {properties: {shipped: {type: boolean}}}
  execution: {kind: durable, process: sending, sub_verbs: [desk.ship]}
"""
HANDLERS = '''
"""Handlers of the desk; shipping breaks its word until somebody mends it."""

from pathlib import Path

from perdure import Result, verb


@verb("desk.pack")
def pack(call):
    return Result({"packed": True}, {"orch_number": call.args["number"]})


@verb("desk.ship")
def ship(call):
    return {"shipped": True} if Path("mended").exists() else {}
'''
FIRST = """
== parcel
start s
service pack desk.pack
receive paid message parcel_paid key=orch_number
user check
catch alarm signal alarm
service ship desk.ship
end e
s > pack > paid > check > alarm > ship > e
"""
SECOND = FIRST.replace("user check", "user look").replace("> check >", "> look >")
"""The check is called otherwise."""
BROKEN = """
== parcel
start s
xor way
service pack desk.pack
and both
end e
s > way
way > pack if orch_number = "n-1"
way > both default
pack > both > e
"""
"""One token waits for two."""
CARRIED = """
== sending
start s
service ship desk.ship
end e
s > ship > e
"""


def xml(text: str) -> str:
    (model,) = sketches(text).values()
    return write_model(model)


def make_parcels(folder: Path, store: str = "") -> Shell:
    """The project, with one process that a call begins and the models of another beside it."""
    shell = Shell(folder / "parcels", store)
    for name in ("definitions", "handlers", "models"):
        (shell.folder / name).mkdir(parents=True)
    (shell.folder / "perdure.yaml").write_text("definitions: [definitions]\nhandlers: [handlers]\n")
    (shell.folder / "definitions" / "desk.yaml").write_text(DEFINITIONS)
    (shell.folder / "handlers" / "__init__.py").write_text("")
    (shell.folder / "handlers" / "desk.py").write_text(textwrap.dedent(HANDLERS))
    (shell.folder / "models" / "sending.bpmn").write_text(xml(CARRIED))
    for name, text in {"first": FIRST, "second": SECOND, "broken": BROKEN}.items():
        (shell.folder / f"{name}.bpmn").write_text(xml(text))
    return shell


class Parcel:
    """One instance of the parcel process, moved on from a terminal."""

    def __init__(self, shell: Shell, number: str = "n-1") -> None:
        self.shell, self.number = shell, number
        self.id: str = shell.json("instances", "start", "parcel", "--data", f'{{"number": "{number}"}}')["id"]

    def shown(self) -> Any:
        return self.shell.json("instances", "show", self.id)

    def standing(self) -> list[str]:
        return [token["element"] for token in self.shown()["tokens"]]

    def pay(self) -> str:
        """Pay for it; the key of the task that opens."""
        told = self.shell.json("message", "publish", "parcel_paid", self.number)
        assert told["outcome"] == "correlated"
        (task,) = [each for each in self.shell.json("tasks", "list") if each["instance"] == self.id]
        return str(task["key"])

    def mend(self) -> None:
        (self.shell.folder / "mended").touch()
