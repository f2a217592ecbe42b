"""What is offered at a place in a program."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.runbooks.language.code_completion import complete
from tests.runbooks.language.sample_verbs import catalogue
from tests.runbooks.language.test_properties import TEXTS

CASE = 'LET case = EXEC kyc.open-case(entity: 1, case_type: "new-client")\n'
LISP = '(kyc.open-case :entity 1 :case-type "new-client" :as @case)\n'


def offered(text: str, **more: list[str]) -> list[str]:
    """What is offered at the bar."""
    before, _, after = text.partition("|")
    found = complete(before + after, len(before), catalogue(), **more)
    return [candidate.text for candidate in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|", ["LET", "EXEC", "IF", "THEN", "ELSE", "END"]),
        ("L|", ["LET"]),
        ("LET x = |", ["EXEC"]),
        ("EXEC kyc.open|", ["kyc.open-case"]),
        ("EXEC open|", ["open-case"]),
        ("EXEC kyc.update_case_status(|", ["case_id: ", "status: "]),
        ('EXEC kyc.update_case_status(case_id: "x", |', ["status: "]),
        ('EXEC kyc.update_case_status(case-id: "x", st|', ["status: "]),
        ("EXEC kyc.update_case_status(status: |", ['"open"', '"closed"']),
        ('EXEC kyc.update_case_status(status: "cl|', ['"closed"']),
        (CASE + "EXEC notice.send(to: |", ["case"]),
        (CASE + "EXEC notice.send(to: [1, c|", ["case"]),
        (CASE + "EXEC notice.send(to: case.|", ["case.case_id", "case.number", "case.state"]),
        (CASE + "IF case.n|", ["case.number"]),
        (CASE + "EXEC notice.send(to: $|", ["$client"]),
        (CASE + "EXEC notice.send() AFTER |", ["case"]),
        ("EXEC notice.send() ON |", ["FAILURE"]),
        ("EXEC notice.send() ON FAILURE c|", ["continue"]),
        ("EXEC notice.send(to: kyc.update_case_status(s|", ["status: "]),
        ("(kyc.open|", ["kyc.open-case"]),
        ("(kyc.update_case_status :|", [":case-id", ":status", ":as", ":after", ":on-failure", ":gate"]),
        ("(kyc.update_case_status :case-id 1 :st|", [":status"]),
        ("(kyc.update_case_status :status |", ['"open"', '"closed"']),
        (LISP + "(notice.send :to |", ["@case"]),
        (LISP + "(notice.send :to [1 @c|", ["@case"]),
        (LISP + "(notice.send :to @case.st|", ["@case.state"]),
        (LISP + "(notice.send :after [|", ["@case"]),
        (LISP + "(notice.send :on-failure |", ["fail", "stop", "continue", "ask"]),
    ],
)
def test_what_fits_is_offered(text: str, expected: list[str]) -> None:
    assert offered(text, variables=["client"])[: len(expected)] == expected


def test_verbs_are_offered_in_full_and_bare_where_that_is_enough() -> None:
    found = offered("(|")
    assert {"kyc.open-case", "open-case", "notice.send", "document.find"} <= set(found)
    assert "find" not in found


def test_a_candidate_says_where_it_goes_and_what_it_is() -> None:
    text = "EXEC kyc.update_case_status(sta"
    (candidate,) = complete(text, len(text), catalogue())
    assert text[: candidate.start] + candidate.text == "EXEC kyc.update_case_status(status: "
    assert (candidate.kind, candidate.about) == ("argument", "text")


def test_names_of_the_session_are_offered_too() -> None:
    assert offered("EXEC notice.send(to: |", names=["earlier"]) == ["earlier"]


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.integers(0, 60))
def test_any_place_of_any_text_can_be_asked_for(text: str, cursor: int) -> None:
    for candidate in complete(text, min(cursor, len(text)), catalogue(), variables=["v"], names=["n"]):
        assert 0 <= candidate.start <= cursor
