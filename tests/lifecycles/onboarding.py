"""A client's onboarding in small: verbs, records and a lifecycle that tests share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.errors import BusinessError
from perdure.identifiers import Id, id_text
from perdure.journal import Origin
from perdure.lifecycles.instances import LifecycleInstances
from perdure.lifecycles.machine.state import Instance
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Catalogue
from perdure.verbs.handlers import Call
from perdure.verbs.loader import load_text

VERBS = """
entities:
  client:
    key: id
    fields: {id: {type: string, required: true}, passport: string, risk: string}
documents:
  passport: {data_schema: {properties: {name: {type: string}}}}
  form: {data_schema: {properties: {name: {type: string}}}}
verbs:
  - name: client.create
    input_schema: {required: [id], properties: {id: {type: string}, passport: {type: string}, risk: {type: string}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: create}}
  - name: client.update
    input_schema: {required: [id], properties: {id: {type: string}, passport: {type: string}, risk: {type: string}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: update}}
  - name: papers.ask
    input_schema:
      required: [client, paper]
      properties: {client: {type: string}, paper: {type: string}, correlation_id: {type: string}}
      additionalProperties: false
    metadata: {creates_pending_task: true}
    execution: {kind: sync, effects: external}
  - name: papers.fetch
    input_schema: {required: [client], properties: {client: {type: string}}}
    execution: {kind: durable}
  - name: risk.clear
    input_schema: {required: [client], properties: {client: {type: string}}}
    execution: {kind: sync, effects: none}
"""

LIFECYCLE = """
workflow: onboarding
version: 1
description: A client from first contact to approval
states:
  INTAKE:
    description: Papers are collected
    timeout_hours: 720
    requirements:
      - type: field_value
        record: client
        field: passport
        equals: verified
        on_fail:
          blocker:
            type: MissingDocument
            resolution: "(papers.ask :client $subject :paper passport)"
            auto: true
            expires: P10D
            max_attempts: 3
  REVIEW:
    requirements:
      - {type: field_present, record: client, field: risk}
  APPROVED: {terminal: true}
  REJECTED: {terminal: true}
transitions:
  - {from: INTAKE, to: REVIEW}
  - {from: INTAKE, to: REJECTED, timeout: true}
  - {from: REVIEW, to: APPROVED, manual: true, guard: requirements, role: compliance, reason: required}
  - {from: [INTAKE, REVIEW], to: REJECTED, manual: true, four_eyes: true}
"""

ME = Origin("default", "local")


class Handlers:
    """Counts what was asked for, by correlation id."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.is_broken = False
        self.is_clear = True

    def bound(self) -> dict[str, Callable[..., Any]]:
        return {"papers.ask": self.ask, "risk.clear": self.clear}

    async def ask(self, call: Call) -> dict[str, Any]:
        if self.is_broken:
            raise BusinessError("NO_MAILBOX", "the mailbox is gone")
        self.asked[call.args.get("correlation_id", "")] += 1
        return {}

    async def clear(self, call: Call) -> dict[str, Any]:
        return {"holds": self.is_clear, "missing": [] if self.is_clear else ["alert A1 is open", "alert A2 is open"]}


def catalogue() -> Catalogue:
    return load_text(VERBS)


def written(folder: Path, text: str = LIFECYCLE, name: str = "onboarding.yaml") -> Path:
    """A lifecycle file in a folder."""
    file = folder / name
    file.write_text(text)
    return file


def lifecycles_of(sandbox: Sandbox) -> LifecycleInstances:
    return sandbox.runtime.lifecycles


def letters_of(id: bytes) -> str:
    return id_text(Id(id))


async def state_of(sandbox: Sandbox, id: bytes) -> Instance:
    state: Instance = (await sandbox.runtime.kernel.read(Id(id), ME)).state
    return state
