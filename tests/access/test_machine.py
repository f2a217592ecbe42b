"""Keys are made and revoked by a pure machine, within bounds, and replayed they are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.access import machine as m
from perdure.access.api_key_state import AccessState, EndedSession, Grant
from perdure.access.machine import AccessMachine, CreateKey, EndSession, KeyCreated, RevokeKey, access_id
from perdure.errors import InvariantBroken, Rejection
from perdure.journal import Decision, Origin

pytestmark = pytest.mark.req("P3")
ORIGIN = Origin("acme", "ada")
ID = access_id("acme")


class Keys:
    """The machine with the state its entries lead to."""

    def __init__(self) -> None:
        self.machine = AccessMachine()
        self.state: AccessState | None = None

    def ask(self, command: m.AccessCommand, now: int = 10) -> str | Rejection:
        decision = self.machine.decide(ID, self.state, command, ORIGIN, now, 0.5)
        if isinstance(decision, Rejection):
            return decision
        for entry in decision.entries:
            self.state = self.machine.apply(self.state, entry)
        return decision.answer

    def make(self, name: str, now: int = 10, **words: Any) -> str | Rejection:
        grant = Grant(name, words.pop("principal", "ci"), "service", ("viewer",), **words)
        return self.ask(CreateKey(id=f"id-{name}-{now}", digest=name.encode(), grant=grant), now)


def test_a_key_is_made_and_revoked_and_who_did_is_kept() -> None:
    keys = Keys()
    assert keys.make("ci") == "created"
    assert keys.ask(RevokeKey(id="id-ci-10", reason="lost"), 20) == "revoked"
    assert keys.state is not None
    [key] = keys.state.keys
    assert (key.created_by, key.created_at, key.revoked_by, key.revoked_at, key.reason) == (
        "ada",
        10,
        "ada",
        20,
        "lost",
    )
    assert not key.is_good(20)


def test_the_same_command_twice_writes_once() -> None:
    keys = Keys()
    assert [keys.make("ci"), keys.make("ci")] == ["created", "replayed"]
    revoke = RevokeKey(id="id-ci-10")
    assert [keys.ask(revoke), keys.ask(revoke)] == ["revoked", "replayed"]


def test_a_name_is_used_once_among_good_keys() -> None:
    keys = Keys()
    keys.make("ci", expires_at=30)
    refused = keys.make("ci", 20)
    assert isinstance(refused, Rejection)
    assert (refused.code, refused.fact) == ("already_exists", "a good key has that name")
    assert keys.make("ci", 30) == "created"


def test_a_key_expires_at_its_moment_and_not_before() -> None:
    keys = Keys()
    keys.make("ci", expires_at=30)
    assert keys.state is not None
    assert [keys.state.keys[0].is_good(now) for now in (10, 29, 30, 31)] == [True, True, False, False]


def test_an_unknown_key_cannot_be_revoked() -> None:
    refused = Keys().ask(RevokeKey(id="nosuch"))
    assert isinstance(refused, Rejection)
    assert (refused.code, refused.sentence()) == (
        "not_found", "Expected to revoke key 'nosuch', but there is no such key. See `perdure keys list`.",
    )  # fmt: skip


def test_a_reason_has_a_bound() -> None:
    keys = Keys()
    keys.make("ci")
    refused = keys.ask(RevokeKey(id="id-ci-10", reason="x" * 1001))
    assert isinstance(refused, Rejection)
    assert refused.code == "invalid"


def test_good_keys_have_a_bound_and_old_ones_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "MAX_KEYS", 3)
    monkeypatch.setattr(m, "MAX_REMEMBERED", 5)
    keys = Keys()
    for number in range(3):
        assert keys.make(f"k{number}") == "created"
    refused = keys.make("k3")
    assert isinstance(refused, Rejection)
    assert refused.code == "blocked"
    for number in range(20):
        keys.ask(RevokeKey(id=f"id-k{number}-10"))
        assert keys.make(f"k{number + 3}") == "created"
        assert keys.state is not None
        assert len(keys.state.keys) <= 5
        assert sum(key.is_good(10) for key in keys.state.keys) == 3


def test_an_entry_about_a_key_that_never_was_breaks_rather_than_guesses() -> None:
    with pytest.raises(InvariantBroken):
        AccessMachine().apply(None, m.KeyRevoked("nosuch", 1, "ada"))


def test_the_id_of_a_tenant_s_keys_is_always_the_same_and_no_other_tenant_s() -> None:
    assert access_id("acme") == ID != access_id("acme2")


@given(st.lists(st.tuples(st.sampled_from(["make", "revoke"]), st.integers(0, 4), st.integers(1, 50)), max_size=20))
def test_what_is_stored_is_what_the_journal_replays(steps: list[tuple[str, int, int]]) -> None:
    machine, keys, written = AccessMachine(), Keys(), []
    for act, number, now in steps:
        grant = Grant(f"k{number}", "ci", "service", ("viewer",), expires_at=now + 5 if number % 2 else 0)
        made = CreateKey(id=f"id{number}", digest=b"d", grant=grant)
        command = made if act == "make" else RevokeKey(id=f"id{number}")
        decision = machine.decide(ID, keys.state, command, ORIGIN, now, 0.5)
        if isinstance(decision, Decision):
            written.append(machine.records.encode(now, type(command).__name__, ORIGIN, decision.entries))
        keys.ask(command, now)
    state = None
    for body in written:
        for entry in machine.records.decode(body).entries:
            state = machine.apply(state, entry)
    assert state == keys.state
    if state is not None:
        assert machine.decode(machine.encode(state)) == state


def test_a_key_s_entry_holds_the_digest_and_never_the_text() -> None:
    fields = KeyCreated.__struct_fields__
    assert "digest" in fields
    assert not {"text", "secret"} & {*fields, *Grant.__struct_fields__}


def test_an_ended_session_is_remembered_until_it_would_have_expired() -> None:
    keys = Keys()
    end = EndSession(session=EndedSession("a", 1, 100))
    assert [keys.ask(end, 10), keys.ask(end, 11)] == ["ended", "replayed"]
    assert keys.ask(EndSession(session=EndedSession("b", 2, 200)), 101) == "ended"
    assert keys.state is not None
    assert [each.id for each in keys.state.ended] == ["b"]


def test_more_ended_sessions_than_are_remembered_end_all_that_began_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "MAX_ENDED", 2)
    keys = Keys()
    for number, name in enumerate("cab", start=1):
        keys.ask(EndSession(session=EndedSession(name, number, 1000)), 10)
    assert keys.state is not None
    assert ([each.id for each in keys.state.ended], keys.state.ended_before) == (["a", "b"], 1)
    assert keys.ask(EndSession(session=EndedSession("older", 1, 1000)), 10) == "replayed"


def test_keys_for_two_names_that_are_read_as_one_are_refused() -> None:
    keys = Keys()
    assert keys.make("one", principal="ada") == "created"
    refused = keys.make("two", principal="Ada")
    assert isinstance(refused, Rejection)
    assert "could be mistaken for 'ada'" in refused.fact
    assert keys.make("three", principal="ada") == "created"
