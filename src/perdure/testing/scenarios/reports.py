"""Reports of a run: one object per file, or JUnit's XML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import msgspec

from perdure.testing.scenarios.scenario import Actual, Outcome

NOTHING = Actual(deploy=None, state=None, ran=[], visited=[], parked=[], incidents=0)
"""What came of a file that could not be read."""


def unreadable(file: str, failures: list[str]) -> Outcome:
    return Outcome(file=file, passed=False, failures=failures, actual=NOTHING)


def plain(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """For JSON."""
    return [msgspec.to_builtins(outcome) for outcome in outcomes]


def junit(outcomes: Sequence[Outcome]) -> str:
    """One test suite with one case per file."""
    failed = sum(not outcome.passed for outcome in outcomes)
    head = f'<testsuite name="scenarios" tests="{len(outcomes)}" failures="{failed}" errors="0" skipped="0">'
    cases = "\n".join(map(_case, outcomes))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{head}\n{cases}\n</testsuite>\n</testsuites>\n'


def _case(outcome: Outcome) -> str:
    name = quoteattr(_clean(outcome.file))
    if outcome.passed:
        return f'<testcase classname="scenario" name={name}/>'
    said = quoteattr(_clean("\n".join(outcome.failures)), {"\n": "&#10;"})
    return f'<testcase classname="scenario" name={name}><failure message={said}/></testcase>'


def _clean(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(each if each.isprintable() or each in "\n\t" else "�" for each in text)
