"""A small world of verbs that the tests of runbooks share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.errors import BusinessError, Transient
from perdure.verbs import Call, Catalogue, load_text

DEFINITIONS = """
- name: kyc.score
  description: Score an entity
  input_schema: {required: [entity], properties: {entity: {type: string}, depth: {type: integer, default: 2}}}
  output_schema: {required: [score], properties: {score: {type: integer}}}
  execution: {kind: sync, effects: none}
- name: kyc.notify
  description: Notify someone outside
  execution: {kind: sync, effects: external}
- name: kyc.flaky
  description: Fails twice
  execution:
    kind: sync
    retry: {max_attempts: 3, backoff: exponential, base_delay: PT10S, max_delay: PT60S, jitter: 0}
- name: kyc.hopeless
  description: Always fails
  execution: {kind: sync, retry: {max_attempts: 2, base_delay: PT10S, jitter: 0}}
- name: kyc.refuse
  description: A modelled refusal
  execution: {kind: sync, effects: none}
- name: kyc.break
  description: Breaks its contract
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution: {kind: sync, effects: none}
- name: kyc.big
  description: Too much data
  input_schema: {properties: {text: {type: string}, note: {type: string}}}
  execution: {kind: sync, effects: none, payload: {max_bytes: 300}}
- name: kyc.documents
  description: Ask for documents and wait
  index: [entity, case_id]
  input_schema: {required: [entity], properties: {entity: {type: string}, note: {type: string}}}
  output_schema: {required: [case_id], properties: {case_id: {type: string}}}
  execution: {kind: durable, policy: {timeout: P14D}}
- name: kyc.review
  description: Wait for a decision
  input_schema: {required: [case], properties: {case: {type: string}}}
  execution: {kind: durable, correlation: {key: $case}}
- name: kyc.audit
  description: Another wait on the same case
  input_schema: {required: [case], properties: {case: {type: string}}}
  execution: {kind: durable, correlation: {key: $case}}
- name: kyc.decide
  description: Escalates when nobody decides
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  execution: {kind: durable, policy: {timeout: P7D, escalation: kyc.senior}}
- name: kyc.senior
  description: A senior decides
  input_schema: {required: [entity], properties: {entity: {type: string}, call_id: {type: string}}}
  execution: {kind: durable}
- name: kyc.orphaned
  description: Escalates to nobody we know
  execution: {kind: durable, policy: {timeout: P1D, escalation: some-process}}
"""


def catalogue(text: str = DEFINITIONS) -> Catalogue:
    return load_text(text)


class Handlers:
    """Handlers that remember how they were called."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.is_mended = False

    def bound(self) -> dict[str, Callable[..., Any]]:
        return {
            "kyc.score": self.score, "kyc.notify": self.notify, "kyc.flaky": self.flaky,
            "kyc.hopeless": self.hopeless, "kyc.refuse": self.refuse, "kyc.break": self.broken, "kyc.big": self.big,
        }  # fmt: skip

    async def score(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        return {"score": 10 * call.args["depth"]}

    def notify(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        return {"sent": True}

    async def flaky(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        if call.attempt < 3:
            raise Transient("the service is busy")
        return {"attempt": call.attempt}

    async def hopeless(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        raise ConnectionError("refused")

    async def refuse(self, call: Call) -> dict[str, Any]:
        raise BusinessError("SANCTIONED", "the entity is on a list")

    async def broken(self, call: Call) -> dict[str, Any]:
        return {"ok": True} if self.is_mended else {"ok": "perhaps"}

    async def big(self, call: Call) -> dict[str, Any]:
        return {}
