"""Proof: whether every way through a process ends well, by looking at all of them with the machine that runs it."""

from perdure.bpmn.proof.prover import Proof as Proof
from perdure.bpmn.proof.prover import prove as prove
from perdure.bpmn.proof.verdict import CODES as CODES
from perdure.bpmn.proof.verdict import Bounds as Bounds
from perdure.bpmn.proof.verdict import Finding as Finding
from perdure.bpmn.proof.verdict import Statistics as Statistics
from perdure.bpmn.proof.verdict import Step as Step
from perdure.bpmn.proof.verdict import Verdict as Verdict
