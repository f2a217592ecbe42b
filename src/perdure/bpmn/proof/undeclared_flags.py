"""Ways out that depend on a flag which nothing declares: the proof gives it a value, the engine does not."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from perdure.bpmn.conditions.tree import Condition, atoms, holds
from perdure.bpmn.model import GIVEN_FLAGS, Event, Process, scopes
from perdure.bpmn.proof.finding_texts import texts
from perdure.bpmn.proof.verdict import Finding

CODE = "SND011"


def unset_findings(process: Process, told: Collection[str]) -> Iterator[Finding]:
    """A warning for each element that finds no way out before its flags are set, unless something is told of it."""
    for scope in scopes(process.body):
        ways: dict[str, list[Condition | None]] = {}
        for flow in scope.flows:
            ways.setdefault(flow.source, []).append(flow.condition)
        for node in scope.nodes:
            has_default = not isinstance(node, Event) and node.default
            found = [each for each in ways.get(node.id, ()) if each is not None]
            if node.id in told or has_default or not found or len(found) < len(ways[node.id]):
                continue
            if not any(holds(each, {}) for each in found) and (flags := _flags(found)):
                fact, hint = texts(CODE, node.id, " and ".join(flags))
                yield Finding(
                    code=CODE, severity="warning", element=node.id, fact=fact, hint=hint, elements=(node.id,)
                )  # fmt: skip


def _flags(found: list[Condition]) -> list[str]:
    return sorted({atom.flag for each in found for atom in atoms(each)} - GIVEN_FLAGS)
