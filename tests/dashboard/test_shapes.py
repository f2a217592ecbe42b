"""The shapes that the dashboard reads are those of the operations' answers: a field that is gone or renamed is seen."""

from __future__ import annotations

import re
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
import pytest

from perdure.app.operations.operation_table import TABLE
from perdure.app.session_views import SessionView
from tests.house.tree import ROOT

pytestmark = pytest.mark.req("P4")
FILES = [ROOT / "dashboard" / "src" / "api" / name for name in ("shapes.ts", "process-shapes.ts", "paper-shapes.ts")]
NAMES = {
    "DeployAnswer": "DeployedView",
    "Finding": "FindingView",
    "IncidentMark": "IncidentView",
    "InstanceWait": "WaitView",
    "LiveEvent": "FeedItem",
    "PlannedStep": "PlannedStepView",
    "ProcessView": "ReviewedProcess",
    "Proof": "ProofView",
    "Question": "QuestionView",
    "Receipt": "ReceiptView",
    "Rung": "RungView",
    "Session": "SessionView",
    "StuckAction": "ActionView",
    "VerbDetail": "VerbView",
    "Versions": "ProcessVersions",
}
"""Names of the dashboard for structs that are called otherwise."""


def structs() -> dict[str, type[msgspec.Struct]]:
    """Every struct in an answer of the table, by name."""
    found: dict[str, type[msgspec.Struct]] = {}

    def visit(kind: Any) -> None:
        origin = get_origin(kind)
        if origin in (Union, UnionType, list, dict, tuple) or (origin is None and get_args(kind)):
            for each in get_args(kind):
                visit(each)
            return
        for each in get_args(kind):
            visit(each)
        made = origin or kind
        if isinstance(made, type) and issubclass(made, msgspec.Struct) and made.__name__ not in found:
            found[made.__name__] = made
            for field in msgspec.structs.fields(kind):
                visit(field.type)

    for row in TABLE:
        visit(row.answer)
    visit(SessionView)
    return found


def interfaces() -> dict[str, dict[str, bool]]:
    """Every interface of the dashboard with its fields, and whether each may be left out."""
    found: dict[str, dict[str, bool]] = {}
    for path in FILES:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in re.finditer(r"export interface (\w+)(?:<\w+>)?(?: extends \w+)? \{", text):
            found[match[1]] = dict(_fields(text[match.end() :]))
    return found


def _fields(text: str) -> list[tuple[str, bool]]:
    depth, part, parts = 0, "", []
    for letter in text:
        if letter == "}" and depth == 0:
            break
        depth += (letter in "{[(<") - (letter in "}])>")
        if letter == ";" and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    names = [re.match(r"\s*(\w+)(\??):", each) for each in [*parts, part]]
    return [(name[1], name[2] == "?") for name in names if name is not None]


def test_every_field_that_the_dashboard_reads_is_one_of_an_answer() -> None:
    known, wrong = structs(), []
    for name, fields in interfaces().items():
        struct = known.get(NAMES.get(name, name))
        if struct is None:
            wrong.append(f"{name}: no operation answers with it")
            continue
        there = set(struct.__struct_encode_fields__)
        wrong += [f"{name}.{field}: {struct.__name__} has no such field" for field in fields if field not in there]
    assert wrong == []


def test_a_field_that_is_left_out_of_answers_is_optional_in_the_dashboard() -> None:
    known, wrong = structs(), []
    for name, fields in interfaces().items():
        struct = known.get(NAMES.get(name, name))
        if struct is None or not struct.__struct_config__.omit_defaults:
            continue
        sometimes = {each.name for each in msgspec.structs.fields(struct) if not each.required}
        wrong += [f"{name}.{field}" for field, is_optional in fields.items() if field in sometimes and not is_optional]
    assert wrong == []
