"""A finding drawn on the diagram: the way there, and what is wrong."""

from __future__ import annotations

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.journal_entries import Entered, Passed
from perdure.bpmn.model import Model
from perdure.bpmn.proof.prover import Proof
from perdure.bpmn.proof.verb_effects import Environment
from perdure.bpmn.proof.verdict import Finding
from perdure.bpmn.svg import Mark, Marks, draw
from perdure.verb_contract import FlagContract


def picture_of(model: Model, deployed: Deployed, finding: Finding, flags: tuple[FlagContract, ...] = ()) -> str:
    """An SVG of the model with the counterexample on it."""
    elements = {id: Mark(findings=(finding.code,), state="failed") for id in finding.elements or (finding.element,)}
    title = f"{finding.code} {finding.message()}"
    return draw(model, Marks(elements=elements, path=path_of(deployed, finding, flags)), title=title)


def path_of(deployed: Deployed, finding: Finding, flags: tuple[FlagContract, ...] = ()) -> tuple[str, ...]:
    """The flows and elements that tokens take on the way to a finding, in order."""
    proof = Proof(deployed, flags or deployed.flags, Environment())
    found: list[str] = []
    for after in proof.replay.run(finding.steps) or ():
        for entry in after.entries:
            if type(entry) is Entered or type(entry) is Passed:
                found += [each for each in (entry.flow, entry.element) if each]
    return tuple(dict.fromkeys(found))
