"""Lint: rules over process models, each with a code, a page and a set of models."""

from perdure.bpmn.lint.contract import Contract, VerbContract
from perdure.bpmn.lint.findings import PROFILES, TARGETS, Finding, Note, Profile, Severities, Severity, Target
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.lint.rule import Rule
from perdure.bpmn.lint.rules import RULES
from perdure.bpmn.lint.sarif import sarif

__all__ = [
    "PROFILES",
    "RULES",
    "TARGETS",
    "Contract",
    "Finding",
    "Note",
    "Profile",
    "Rule",
    "Severities",
    "Severity",
    "Target",
    "VerbContract",
    "lint",
    "sarif",
]
