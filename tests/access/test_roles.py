"""Who may do what: the table, scoped keys, patterns of verbs, and what nobody may give away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from perdure.access.api_key_state import Grant
from perdure.access.grant_checks import check_grant, grant_fault
from perdure.access.principal import ROLES, Principal, Role, local
from perdure.access.roles import OPERATIONS, check, may, refusal
from perdure.errors import InvariantBroken, RejectedError
from perdure.verbs.verb_patterns import is_pattern, reaches

pytestmark = pytest.mark.req("P3")


def somebody(*roles: Role, **words: Any) -> Principal:
    return Principal("acme", "ana", words.pop("kind", "person"), frozenset(roles), **words)


def test_an_admin_may_do_everything_and_so_may_whoever_sits_at_the_machine() -> None:
    assert may(somebody("admin")) == may(local()) == sorted(OPERATIONS)


def test_somebody_without_a_role_may_do_nothing() -> None:
    assert may(somebody()) == []


def test_everyone_may_look_except_at_keys_hooks_and_what_is_measured_of_all_tenants() -> None:
    narrow = {"key": {"admin"}, "hook": {"admin"}, "metrics": {"operator", "admin"}}
    for operation, roles in OPERATIONS.items():
        thing, _, act = operation.partition(".")
        if act in ("read", "list", "export"):
            assert roles == narrow.get(thing, set(ROLES)), operation


def test_a_viewer_may_only_look() -> None:
    assert {each.partition(".")[2] for each in may(somebody("viewer"))} == {"read", "list", "export"}


@pytest.mark.parametrize(
    ("operation", "roles"),
    [
        ("verb.call", {"author", "operator", "admin"}),
        ("runbook.cancel", {"operator", "admin"}),
        ("call.approve", {"reviewer", "admin"}),
        ("task.claim", {"reviewer", "operator", "admin"}),
        ("process.deploy", {"author", "admin"}),
        ("key.create", {"admin"}),
        ("call.erase", {"admin"}),
        ("completion.send", {"operator", "admin"}),
        ("audit.export", set(ROLES)),
    ],
)
def test_an_operation_is_for_these_roles_and_no_others(operation: str, roles: set[str]) -> None:
    assert {role for role in ROLES if refusal(somebody(role), operation) is None} == roles


def test_a_refusal_names_the_operation_who_may_and_what_to_do() -> None:
    with pytest.raises(RejectedError) as caught:
        check(somebody("viewer", "reviewer"), "runbook.cancel")
    assert caught.value.rejection.code == "forbidden"
    assert str(caught.value) == (
        "Expected to do operation 'runbook.cancel', but 'ana' is viewer and reviewer and it takes operator or admin. "
        "Ask an administrator for a role that may."
    )


def test_an_operation_that_no_table_knows_is_a_broken_promise_and_never_allowed() -> None:
    with pytest.raises(InvariantBroken):
        check(somebody("admin"), "runbook.destroy")


def test_a_scoped_key_narrows_its_roles_and_never_widens_them() -> None:
    scoped = somebody("operator", operations=("verb.call", "key.create"))
    assert may(scoped) == ["verb.call"]
    with pytest.raises(RejectedError, match=r"is for verb\.call, key\.create alone"):
        check(scoped, "runbook.cancel")
    with pytest.raises(RejectedError, match="it takes admin"):
        check(scoped, "key.create")


def test_a_key_reaches_only_the_verbs_its_patterns_name() -> None:
    narrow = somebody("admin", verbs=("kyc.*", "desk.send"))
    for verb in ("kyc.open-case", "kyc.a.b", "desk.send"):
        check(narrow, "verb.call", verb=verb)
    for verb in ("kyc", "kycx.open", "desk.send-all", "desk.sen", "KYC.open", "other"):
        with pytest.raises(RejectedError, match="may only act on verbs"):
            check(narrow, "verb.call", verb=verb)
    check(narrow, "runbook.list")
    assert not reaches((), "kyc.open-case")


@pytest.mark.parametrize("text", ["*", "kyc.*", "kyc.open-case", "a", "a.b.*"])
def test_a_pattern_is_a_name_or_ends_in_a_star_after_a_dot(text: str) -> None:
    assert is_pattern(text)


@pytest.mark.parametrize("text", ["", "kyc*", "*.open", "kyc.*.open", "**", "kyc open", "kyc\n", "?"[:0]])
def test_any_other_text_is_no_pattern(text: str) -> None:
    assert not is_pattern(text)


@given(st.lists(st.sampled_from(["kyc.*", "*", "desk.send", "a.b"]), max_size=3), st.text(max_size=12))
def test_a_verb_is_reached_only_by_its_name_or_its_beginning(patterns: list[str], verb: str) -> None:
    expected = any(
        each in ("*", verb) or (each.endswith(".*") and verb[: len(each) - 1] == each[:-1]) for each in patterns
    )
    assert reaches(tuple(patterns), verb) == expected


# --- what may be granted ----------------------------------------------------------------------------------------------

GOOD = Grant("ci", "ci", "service", ("operator",))
NOW = 1_000


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"name": ""}, "its name is empty"),
        ({"name": "x" * 201}, "its name has 201 letters"),
        ({"name": "a\x1b[31m"}, "cannot be shown"),
        ({"principal": " "}, "its principal is empty"),
        ({"principal": "perdure"}, "is the name of the platform"),
        ({"principal": "agent:judge"}, "is the name of an agent"),
        ({"kind": "agent"}, "does not begin with 'agent:'"),
        ({"kind": "robot"}, "no kind of principal"),
        ({"roles": ()}, "it has no role"),
        ({"roles": ("operator", "root")}, "'root' is no role"),
        ({"groups": ("",)}, "its list of groups is empty"),
        ({"groups": tuple(map(str, range(51)))}, "it has 51 groups"),
        ({"verbs": ()}, "it reaches no verb"),
        ({"verbs": ("kyc*",)}, "'kyc*' names no verbs"),
        ({"verbs": tuple(f"v{n}" for n in range(101))}, "it has 101 verbs"),
        ({"operations": ("key.creat",)}, "'key.creat' is no operation"),
        ({"operations": ("key.create",)}, "its roles may not do 'key.create'"),
        ({"expires_at": NOW}, "it would have expired already"),
        ({"expires_at": -1}, "it would have expired already"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused_by_name(change: dict[str, Any], fact: str) -> None:
    assert grant_fault(GOOD, NOW) is None
    fault = grant_fault(replace(GOOD, **change), NOW)
    assert fault is not None
    assert fact in fault.fact


@pytest.mark.parametrize(
    ("giver", "grant", "fact"),
    [
        (somebody("operator"), replace(GOOD, roles=("admin",)), "may not do 'budget.loosen'"),
        (somebody("admin", operations=("key.create",)), GOOD, "may not do"),
        (somebody("admin", verbs=("kyc.*",)), GOOD, "does not reach the verbs '*'"),
        (somebody("admin", verbs=("kyc.*",)), replace(GOOD, verbs=("kyc.a", "desk.b")), "the verbs 'desk.b'"),
        (somebody("admin", kind="service"), replace(GOOD, kind="person"), "is no person and it would speak as one"),
        (somebody("admin", kind="agent"), replace(GOOD, kind="person"), "is no person"),
        (somebody("admin", via="oidc"), replace(GOOD, groups=("compliance",)), "the group 'compliance'"),
        (
            somebody("admin", via="key:k", groups=("night",)),
            replace(GOOD, groups=("night", "risk")),
            "the group 'risk'",
        ),
        (somebody("admin", expires_at=NOW + 9), GOOD, "would last longer"),
        (somebody("admin", expires_at=NOW + 9), replace(GOOD, expires_at=NOW + 10), "would last longer"),
    ],
)
def test_nobody_makes_a_key_that_may_do_more_than_they(giver: Principal, grant: Grant, fact: str) -> None:
    with pytest.raises(RejectedError, match="make key 'ci'") as caught:
        check_grant(giver, grant)
    assert fact in caught.value.fact
    assert caught.value.rejection.code == "forbidden"


def test_a_key_may_be_made_for_as_much_as_its_maker_may_do() -> None:
    check_grant(somebody("admin"), replace(GOOD, roles=("admin",), kind="person"))
    check_grant(somebody("admin", verbs=("kyc.*",)), replace(GOOD, verbs=("kyc.*", "kyc.open-case")))
    check_grant(somebody("admin", via="oidc", groups=("night", "risk")), replace(GOOD, groups=("risk",)))
    check_grant(somebody("admin", via="key:k", expires_at=NOW + 9), replace(GOOD, expires_at=NOW + 9))
    check_grant(local(), replace(GOOD, groups=("compliance",)))
    check_grant(somebody("admin", operations=("key.list",)), replace(GOOD, roles=("admin",), operations=("key.list",)))
