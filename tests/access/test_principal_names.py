"""Names of principals: normalised, never the platform's own, never one that is taken for another."""

from __future__ import annotations

import pytest

from perdure.access.grant_checks import name_fault
from perdure.access.principal_names import confusable_fault, normalised, reserved_fault, same_name
from perdure.access.token_claims import ClaimNames, principal_of

pytestmark = pytest.mark.req("P3")
RESERVED = (
    "perdure ",
    "Perdure",
    "perdure\u2003",
    "\uff50erdure",
    "local",
    "LOCAL",
    "wait:x",
    "Wait:x",
    "hook:up",
    "agent:perdure",
)


@pytest.mark.parametrize("name", RESERVED)
def test_names_of_the_platform_are_refused(name: str) -> None:
    assert reserved_fault(name)
    assert name_fault(name, "agent" if name.startswith("agent:") else "person") is not None


@pytest.mark.parametrize(
    ("name", "kept"), [(" ada ", "ada"), ("\uff41da", "ada"), ("e\u0301va", "éva"), ("a \t b", "a b")]
)
def test_a_name_has_one_spelling(name: str, kept: str) -> None:
    assert normalised(name) == kept
    assert name_fault(name, "person") is not None
    assert name_fault(kept, "person") is None


@pytest.mark.parametrize("name", ["\u0430da", "p\u0435rdure", "ad\u03b1"])
def test_letters_of_two_scripts_are_refused(name: str) -> None:
    assert "mixes letters" in confusable_fault(name)


@pytest.mark.parametrize("name", ["Ольга", "山田 taro", "o'neil", "agent:bot-2", "zoë"])
def test_names_that_people_have_are_taken(name: str) -> None:
    assert name_fault(name, "agent" if name.startswith("agent:") else "person") is None


def test_names_that_differ_by_case_alone_are_one_person() -> None:
    assert same_name("Ada", "ada")
    assert confusable_fault("ADA", ["bob", "ada"])
    assert not confusable_fault("ada", ["bob", "ada"])


def test_a_token_of_an_identity_provider_names_nobody_of_ours() -> None:
    names = ClaimNames()
    assert isinstance(principal_of({"tenant": "acme", "sub": "perdure "}, names, "person"), str)
    found = principal_of({"tenant": "acme", "sub": " ada  b "}, names, "person")
    assert not isinstance(found, str)
    assert found.name == "ada b"
