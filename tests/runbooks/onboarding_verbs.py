"""Verbs and programs of a small onboarding that the tests of runbooks share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.errors import BusinessError
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, Catalogue, Decide, load_text

DEFINITIONS = """
- name: co.find
  description: Find an entity
  sentences: {step: "Find {name}"}
  input_schema: {required: [name], properties: {name: {type: string}}}
  output_schema: {required: [id, risk], properties: {id: {type: string}, risk: {type: integer}}}
  execution: {kind: sync, effects: none}
- name: co.note
  description: Note something outside
  input_schema: {properties: {entity: {type: string}, text: {type: string}, more: {type: array}}}
  output_schema: {required: [note], properties: {note: {type: string}}}
  execution: {kind: sync, effects: external, compensate: co.forget}
- name: co.forget
  description: Take a note back
  input_schema: {required: [note], properties: {note: {type: string}, text: {type: string}}}
  execution: {kind: sync, effects: external}
- name: co.stubborn
  description: Cannot be taken back
  output_schema: {properties: {note: {type: string}}}
  execution: {kind: sync, compensate: co.refuse}
- name: co.refuse
  description: Always refuses
  input_schema: {properties: {note: {type: string}}}
  execution: {kind: sync, effects: none}
- name: co.documents
  description: Ask for documents
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  output_schema: {required: [complete], properties: {complete: {type: boolean}}}
  execution: {kind: durable, policy: {timeout: P14D}}
- name: co.review
  description: A review under the entity's own key
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  execution: {kind: durable, correlation: {key: "review-{entity}"}, policy: {timeout: P7D, escalation: co.senior}}
- name: co.senior
  description: A senior takes over
  input_schema: {properties: {entity: {type: string}}}
  execution: {kind: durable}
- name: co.decide
  description: A rule decides
  input_schema: {properties: {step: {type: string}, code: {type: string}, error: {type: string}}}
  output_schema: {properties: {answer: {type: string}}}
  execution: {kind: sync, effects: none, decision: true}
- name: co.judge
  description: A person decides
  output_schema: {properties: {verdict: {type: string}}, additionalProperties: false}
  execution: {kind: durable, decision: true}
- name: co.change
  description: Change a case
  input_schema: {required: [case], properties: {case: {type: string}, by: {type: string}}}
  writes: ["case/{case}"]
  execution: {kind: sync, effects: external}
- name: co.market
  description: Wait for the market to open
  input_schema: {required: [market], properties: {market: {type: string}}}
  execution: {kind: durable, correlation: {key: "open-{market}", fanout: true}}
"""


def catalogue(more: str = "") -> Catalogue:
    return load_text(DEFINITIONS + more)


class Desk:
    """Handlers that remember how they were called, and do as they are told."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.decisions: list[Decide] = []
        self.failing: set[str] = set()
        self.broken: set[str] = set()
        self.risk = 1

    def bound(self) -> dict[str, Callable[..., Any]]:
        return {
            "co.find": self.find, "co.note": self.note, "co.forget": self.forget, "co.stubborn": self.stubborn,
            "co.refuse": self.refuse, "co.decide": self.decide, "co.change": self.change,
        }  # fmt: skip

    def _called(self, call: Call) -> None:
        self.calls.append(call)
        if call.verb in self.failing:
            raise BusinessError("REFUSED", f"{call.verb} said no")
        if call.verb in self.broken:
            raise TypeError(f"{call.verb} has a bug")

    async def find(self, call: Call) -> dict[str, Any]:
        self._called(call)
        return {"id": f"id of {call.args['name']}", "risk": self.risk}

    async def note(self, call: Call) -> dict[str, Any]:
        self._called(call)
        return {"note": call.step_id}

    async def forget(self, call: Call) -> dict[str, Any]:
        self._called(call)
        return {}

    async def stubborn(self, call: Call) -> dict[str, Any]:
        self._called(call)
        return {"note": call.step_id}

    async def refuse(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        raise BusinessError("NEVER", "it cannot be taken back")

    async def decide(self, call: Call) -> Decide:
        self._called(call)
        return self.decisions.pop(0) if self.decisions else Decide({"answer": "go on"})

    async def change(self, call: Call) -> dict[str, Any]:
        self._called(call)
        return {}

    def verbs(self) -> list[str]:
        return [call.verb for call in self.calls]


def opened(url: str, desk: Desk | None = None, **options: Any) -> Any:
    return Sandbox.open(url, definitions=catalogue(), handlers=(desk or Desk()).bound(), **options)


async def started(sandbox: Sandbox, program: str, **options: Any) -> Any:
    """Start a program, let everything happen that can, and show it."""
    view = await sandbox.runbooks.start(program, **options)
    await sandbox.run_until_idle()
    return await sandbox.runbooks.show(view.id)


async def settled(sandbox: Sandbox, id: str) -> Any:
    await sandbox.run_until_idle()
    return await sandbox.runbooks.show(id)


def states(view: Any) -> dict[str, str]:
    return {step.name: step.state for step in view.steps}
