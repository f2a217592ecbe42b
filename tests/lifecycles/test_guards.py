"""Guards judge facts: each names every missing piece, and what cannot be looked at opens nothing."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.durations import DAY
from perdure.journal.facts import fact_key
from perdure.lifecycles.guards import GuardKind, GuardTable, Judgement, Parameter
from perdure.lifecycles.loader import read_lifecycle
from perdure.lifecycles.machine.definition import Guard
from perdure.moments import day_start

NOW = day_start("2026-06-15") + 12 * DAY // 24
PASSPORT = fact_key("document", "s1", "passport")


def document(**fields: Any) -> dict[str, Any]:
    whole = {
        "id": "d1", "version": 1, "status": "verified", "valid_from": None, "valid_to": None,
        "created_at": "2026-06-01T00:00:00Z", "verified_at": None, "rejection": None,
    }  # fmt: skip
    return {"documents": [{**whole, **fields}]}


def judged(guard: Guard, facts: dict[str, Any], names: dict[str, Any] | None = None) -> Judgement:
    table, known = GuardTable(), names or {"subject": "s1"}
    assert set(table.facts(guard, known)) >= set(facts) or not facts
    return table.judge(guard, known, {**dict.fromkeys(table.facts(guard, known)), **facts}, NOW)


@pytest.mark.req("T9")
@pytest.mark.parametrize(
    ("params", "fact", "holds", "missing", "changes"),
    [
        ({}, None, False, "no document 'passport'", 0),
        ({}, document(), True, "", 0),
        ({}, document(status="pending"), False, "is pending, not verified", 0),
        ({"status": "received"}, document(status="pending"), True, "", 0),
        ({}, document(status="rejected", rejection="blurred"), False, "is rejected (blurred), not verified", 0),
        ({}, document(valid_to="2026-06-15"), True, "", day_start("2026-06-16")),
        ({}, document(valid_to="2026-06-14"), False, "was valid until 2026-06-14", 0),
        ({}, document(valid_from="2026-07-01"), False, "valid only from 2026-07-01", day_start("2026-07-01")),
        ({"max_age_days": 20}, document(), True, "", day_start("2026-06-21")),
        ({"max_age_days": 10}, document(), False, "older than 10 days", 0),
    ],
)
def test_a_document_counts_by_type_status_validity_and_age(
    params: dict[str, Any], fact: Any, holds: bool, missing: str, changes: int
) -> None:
    found = judged(Guard("document_exists", {"document_type": "passport", **params}), {PASSPORT: fact})
    assert (found.holds, found.changes_at) == (holds, changes)
    assert missing in "".join(found.missing)


def test_every_missing_document_of_a_set_is_named() -> None:
    found = judged(Guard("document_set", {"document_types": ["passport", "bill", "letter"]}), {PASSPORT: document()})
    assert found.missing == ("no document 'bill'", "no document 'letter'")


@pytest.mark.req("T9")
@pytest.mark.parametrize(
    ("params", "holds"),
    [
        ({"equals": "low"}, True),
        ({"equals": "high"}, False),
        ({"in": ["low", "medium"]}, True),
        ({"not_in": ["low"]}, False),
        ({"field": "score", "at_least": 3, "at_most": 5}, True),
        ({"field": "score", "at_least": 5}, False),
        ({"field": "flag", "equals": 1}, False),
        ({"field": "none", "not_in": ["x"]}, False),
    ],
)
def test_a_field_of_the_context_is_compared(params: dict[str, Any], holds: bool) -> None:
    names = {"subject": "s1", "risk": "low", "score": 4, "flag": True}
    assert judged(Guard("field_value", {"field": "risk", **params}), {}, names).holds is holds


YES, NO = Guard("field_present", {"field": "a"}), Guard("field_present", {"field": "b"})
OPEN = Guard("document_exists", {"document_type": "passport", "subject": "$nobody"})


@pytest.mark.req("T9")
@pytest.mark.parametrize(
    ("guard", "holds", "is_undecided"),
    [
        (Guard("all", guards=(YES, YES)), True, False),
        (Guard("all", guards=(YES, NO)), False, False),
        (Guard("any", guards=(NO, YES)), True, False),
        (Guard("not", guards=(NO,)), True, False),
        (Guard("not", guards=(YES,)), False, False),
        (Guard("count", {"at_least": 2}, (YES, NO, YES)), True, False),
        (Guard("count", {"at_least": 3}, (YES, NO, YES)), False, False),
        (OPEN, False, True),
        (Guard("not", guards=(OPEN,)), False, True),
        (Guard("not", guards=(Guard("all", guards=(YES, OPEN)),)), False, True),
        (Guard("not", guards=(Guard("all", guards=(NO, OPEN)),)), True, False),
        (Guard("not", guards=(Guard("custom", {"verb": "x"}),)), False, True),
        (Guard("not", guards=(Guard("unheard_of"),)), False, True),
    ],
)
def test_guards_combine_and_what_cannot_be_looked_at_opens_nothing(
    guard: Guard, holds: bool, is_undecided: bool
) -> None:
    found = judged(guard, {}, {"subject": "s1", "a": 1})
    assert (found.holds, found.is_undecided) == (holds, is_undecided)
    assert found.holds or found.missing


def test_a_kind_of_guard_of_ones_own_is_read_and_judged() -> None:
    def facts(params: Any) -> tuple[str, ...]:
        return (fact_key("record", "client", str(params["client"])),)

    def judge(params: Any, found: Any, now: int) -> Judgement:
        fact = found[facts(params)[0]]
        return Judgement(True) if fact else Judgement(False, ("the client is unknown",))

    kind = GuardKind(
        "client_known", "Holds when the client is known.",
        (Parameter("client", "text", "The client", default="$subject"),), facts, judge, lambda params: "client",
    )  # fmt: skip
    table = GuardTable([kind])
    states = "{A: {requirements: [{type: client_known}]}, B: {terminal: true}}"
    text = f"lifecycle: x\nstates: {states}\ntransitions: [{{from: A, to: B}}]"
    guard = read_lifecycle(text, table=table).definition.states[0].requirements[0].guard
    assert table.facts(guard, {"subject": "c1"}) == ("record/client/c1",)
    assert table.judge(guard, {"subject": "c1"}, {"record/client/c1": None}, 0).missing == ("the client is unknown",)
