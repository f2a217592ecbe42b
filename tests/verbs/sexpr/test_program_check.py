"""What a catalogue says about a program."""

from __future__ import annotations

import pytest

from perdure.verbs.sexpr.program_check import ArgumentShape, VerbShape, check
from perdure.verbs.sexpr.reader import read

DOCUMENTS = ArgumentShape(enum=("passport", "utility-bill"))
VERBS = {
    shape.name: shape
    for shape in [
        VerbShape(
            "kyc.open-case",
            {
                "entity": ArgumentShape(required=True),
                "case_type": ArgumentShape(required=True, enum=("new-client", "periodic-review")),
                "level": ArgumentShape(enum=(1, 2)),
            },
        ),
        VerbShape("document.solicit", {"document-type": DOCUMENTS, "case": ArgumentShape()}),
        VerbShape("kyc.close"),
        VerbShape("fund.close"),
    ]
}


def said(text: str) -> list[tuple[str, int, str]]:
    return [(p.code, p.column, p.hint) for p in check(read(text), VERBS.get, list(VERBS))]


@pytest.mark.parametrize(
    "text",
    [
        '(kyc.open-case :entity "x" :case-type "new-client" :level 2)',
        '(kyc.open-case :entity "x" :case_type "new-client")',
        '(open-case :entity "x" :case-type (kyc.close))',
        "(document.solicit :document_type @kind) (kyc.close :as @kind)",
    ],
)
def test_a_fitting_program_raises_no_objection(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(kyc.opn-case)", [("DSL101", 1, "Did you mean kyc.open-case?")]),
        ("(solicitt)", [("DSL101", 1, "Did you mean solicit?")]),
        ("(zzz.qqq)", [("DSL101", 1, "Look for it in the list of verbs, or declare it.")]),
        ("(close)", [("DSL102", 1, "Write one of fund.close, kyc.close.")]),
        ("(kyc.close :why 1)", [("DSL103", 12, "It takes no arguments.")]),
        (
            "(document.solicit :documnt-type 1)",
            [("DSL103", 19, "Did you mean :document-type?")],
        ),
        (
            '(kyc.open-case :entity "x")',
            [("DSL104", 1, "Add ':case-type value'.")],
        ),
        (
            '(document.solicit :document-type "pasport")',
            [("DSL105", 34, 'Did you mean "passport"? Allowed are "passport" "utility-bill".')],
        ),
        (
            '(kyc.open-case :entity "x" :case-type "new-client" :level true)',
            [("DSL105", 59, "Allowed are 1 2.")],
        ),
    ],
)
def test_a_program_that_does_not_fit_is_told_what_would(text: str, expected: list[tuple[str, int, str]]) -> None:
    assert said(text) == expected


def test_nested_calls_are_checked_and_all_findings_are_given() -> None:
    text = "(document.solicit :case (kyc.open-case :entty 1) :document-type 3)"
    assert [code for code, _, _ in said(text)] == ["DSL104", "DSL104", "DSL103", "DSL105"]
