"""What a proof without a contract may hold against a process: what goes wrong whatever flags hold and verbs raise."""

from __future__ import annotations

from perdure.bpmn.model import Gateway, Process, nodes
from perdure.bpmn.proof.verdict import Finding

WHATEVER_FLAGS_SAY = frozenset({"SND002", "SND005", "SND006"})


def is_certain(finding: Finding, process: Process) -> bool:
    """Without a contract nobody knows what is written when: an element may be dead, or a wait endless, only here."""
    if finding.code in WHATEVER_FLAGS_SAY:
        return True
    gateways = {node.id for node in nodes(process.body) if isinstance(node, Gateway)}
    return finding.code == "SND001" and finding.element in gateways
