"""Findings of a proof without a contract: faults that occur whatever flags hold and verbs raise."""

from __future__ import annotations

from perdure.bpmn.conditions.tree import Condition, Foreign, atoms, flags_of, leaves, literals_of
from perdure.bpmn.model import Gateway, Process, nodes, scopes
from perdure.bpmn.proof.verdict import Finding

WHATEVER_FLAGS_SAY = frozenset({"SND002", "SND005", "SND006"})


def is_certain(finding: Finding, process: Process) -> bool:
    """Without a contract nobody knows what is written when: a wait may be endless only here. Who draws a way that an
    event cuts off, or a default for what cannot come, may mean it."""
    if finding.code in WHATEVER_FLAGS_SAY:
        return True
    if finding.code == "SND003":
        return _is_ruled_out(finding.element, process)
    gateways = {node.id for node in nodes(process.body) if isinstance(node, Gateway)}
    return finding.code == "SND001" and finding.element in gateways


def _is_ruled_out(element: str, process: Process) -> bool:
    """Whether only conditions lead to an element: no values at all make one of them true.

    A flag that is compared with texts here and numbers there may hold either: of that nobody knows.
    """
    every = [flow for scope in scopes(process.body) for flow in scope.flows]
    mixed = _mixed([flow.condition for flow in every if flow.condition is not None])
    flows = [flow for flow in every if flow.target == element]
    return bool(flows) and all(
        flow.condition is not None and not _is_foreign(flow.condition) and not mixed & flags_of(flow.condition)
        for flow in flows
    )


def _mixed(conditions: list[Condition]) -> set[str]:
    """Flags that are compared with literals of more than one type."""
    types: dict[str, set[type]] = {}
    for atom in (atom for each in conditions for atom in atoms(each)):
        types.setdefault(atom.flag, set()).update(type(literal) for literal in literals_of(atom))
    return {flag for flag, found in types.items() if len(found) > 1}


def _is_foreign(condition: Condition) -> bool:
    return any(isinstance(leaf, Foreign) for leaf in leaves(condition))
