"""Findings as SARIF 2.1.0, the format code hosts and editors read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from perdure.bpmn.lint.findings import Finding
from perdure.bpmn.lint.rule import Rule
from perdure.bpmn.lint.rules import RULES

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Iterable[Finding], version: str = "") -> dict[str, Any]:
    """One run of the tool, with every rule that found something."""
    found = list(findings)
    used = {finding.code for finding in found}
    rules = [rule for rule in RULES if rule.CODE in used]
    driver: dict[str, Any] = {"name": "perdure lint", "rules": [_rule(rule) for rule in rules]}
    if version:
        driver["version"] = version
    results = [_result(finding, rules) for finding in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    text = (rule.__doc__ or "").strip()
    return {
        "id": rule.CODE,
        "name": rule.NAME,
        "shortDescription": {"text": text.splitlines()[0]},
        "fullDescription": {"text": text},
        "defaultConfiguration": {"level": _LEVELS[rule.SEVERITIES.default]},
    }


def _result(finding: Finding, rules: Sequence[Rule]) -> dict[str, Any]:
    text = finding.message() + (f" {finding.hint}" if finding.hint else "")
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(finding)],
    }
    at = next((at for at, rule in enumerate(rules) if finding.code == rule.CODE), None)
    return result if at is None else {**result, "ruleIndex": at}


def _location(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if finding.file:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.file.replace("\\", "/"))}}
        if finding.line:
            place["region"] = {"startLine": finding.line, "startColumn": max(finding.column, 1)}
        location["physicalLocation"] = place
    if finding.element:
        location["logicalLocations"] = [{"name": finding.element, "kind": "element"}]
    return location
