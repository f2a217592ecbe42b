"""One fault that two rules see is told once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from perdure.bpmn.lint.findings import Finding

SAME = (
    ("BPM106", "PRT118"), ("BPM115", "PRT116"), ("BPM143", "PRT121"), ("BPM152", "PRT120"), ("BPM154", "PRT107"),
    ("BPM190", "PRT106"), ("BPM192", "PRT119"),
)  # fmt: skip
"""Codes that mean one fault when they are given for one element: wrong anywhere, and refused by another engine."""


def told_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Without those that another one tells: the graver of two, or what is wrong anywhere."""
    found = list(findings)
    said: dict[str, dict[str, str]] = defaultdict(dict)
    for each in found:
        said[each.element][each.code] = each.severity
    for each in found:
        if not any(_is_left_out(each, said[each.element], *pair) for pair in SAME):
            yield each


def _is_left_out(finding: Finding, said: dict[str, str], anywhere: str, elsewhere: str) -> bool:
    if anywhere not in said or elsewhere not in said:
        return False
    is_graver = said[elsewhere] == "error" != said[anywhere]
    return finding.code == (anywhere if is_graver else elsewhere)
