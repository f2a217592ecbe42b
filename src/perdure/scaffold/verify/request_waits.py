"""Requests and their waits: work of a type `*.request.*` asks another system, so a wait for its answer follows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.bpmn.contract import Contract
from perdure.bpmn.model import Flow, scopes
from perdure.scaffold.verify.findings import Mismatch

_REQUEST = re.compile(r"(^|.*\.)request(\..*|$)")


def check_request_waits(contract: Contract, model_path: str) -> Iterator[Mismatch]:
    """Work of a request's type from which no wait is reached before its scope ends."""
    for scope in scopes(contract.process.body):
        flows = scope.flows
        for node in scope.nodes:
            work = contract.work.get(node.id)
            if work is None or not _REQUEST.fullmatch(work.definition.type):
                continue
            if not any(id in contract.waits for id in _reached(node.id, flows)):
                yield Mismatch(
                    code="AME071", path=model_path,
                    fact=f"'{node.id}' requests '{work.definition.type}', and no wait for the answer follows",
                    hint="Draw a message catch event or a receive task after it.",
                )  # fmt: skip


def _reached(start: str, flows: tuple[Flow, ...]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        at = waiting.pop()
        for flow in flows:
            if flow.source == at and flow.target not in found:
                found.add(flow.target)
                waiting.append(flow.target)
    return found
