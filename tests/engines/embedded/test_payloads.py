"""Payloads of instances: a change onto the head is what merging, packing and reading back would make of it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from perdure.errors import MergeConflictError, PayloadTooLargeError, SchemaViolationError
from perdure.payload import (
    MAX_DELTAS,
    Held,
    Packed,
    Sealed,
    TrailEntry,
    apply_delta,
    data_hash,
    delta_of,
    digest,
    digest_text,
    merge,
    pack,
    unpack,
    unpack_and_keep,
    with_data,
    with_trail,
)
from perdure.processes.payload_merge import Change, nested
from perdure.processes.payloads import MissingPayload, Payloads
from perdure.sources import Id

INSTANCE = b"i" * 16
AT = "2026-01-01T00:00:01Z"

keys = st.sampled_from(["a", "b", "\uffff", "\U00010000"])
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([1.0, -0.0, 1e20, "", "ä"])
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(keys, scalars | st.tuples(scalars), max_size=3)
objects = st.dictionaries(keys, values, max_size=3)


class Nowhere:
    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None:
        raise AssertionError("what was just made is at hand")


class Kept:
    """A store that holds payloads as they were written."""

    def __init__(self, wholes: dict[bytes, bytes]) -> None:
        self._wholes = wholes

    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None:
        return self._wholes.get(hash)


def started(data: dict[str, Any]) -> tuple[Payloads, bytes]:
    payloads = Payloads(Nowhere())
    return payloads, begun(payloads, INSTANCE, data)[0]


def begun(payloads: Payloads, instance: bytes, data: dict[str, Any]) -> Sealed:
    return payloads.seal_first(instance, "order", 1, None, data, 0)


def whole(before: Held, stored: bytes) -> bytes:
    """The payload that is stored as a change of another."""
    kept = delta_of(stored)
    assert kept is not None
    return apply_delta(before, kept)[0][1]


def change(patch: dict[str, Any], **fields: Any) -> Change:
    return Change(patch, "t.verb", "order/task/1", AT, "ada", **fields)


@given(objects, st.lists(st.tuples(objects, st.sampled_from([(), ("many", "1")])), max_size=3))
@settings(deadline=None, max_examples=150)
def test_a_change_onto_the_head_is_merged_packed_and_read_back(first: dict[str, Any], patches: list[Any]) -> None:
    payloads = Payloads(Nowhere())
    head, written = begun(payloads, INSTANCE, first)
    packed = Packed(written.decode(), digest_text(head))
    for patch, place in patches:
        before = unpack(packed)
        data = merge(before.data, nested(patch, place))
        entry = TrailEntry(
            at=AT, by="ada", hash_in=before.schema_hash, hash_out=data_hash(data), job_key="order/task/1", verb="t.verb"
        )
        packed = pack(with_trail(with_data(before, data, by="t.verb"), entry))
        known = payloads.held(INSTANCE, head)
        head, stored = payloads.seal_change(INSTANCE, head, change(patch, place=place))
        written = whole(known, stored)
        assert Packed(written.decode(), digest_text(head)) == packed
        assert repr(replace(payloads.held(INSTANCE, head), leans=0)) == repr(unpack_and_keep(packed))


def test_a_handler_that_changes_its_result_later_changes_nothing_of_the_payload() -> None:
    payloads, head = started({"kept": {"n": 1}})
    known = payloads.held(INSTANCE, head)
    result: dict[str, Any] = {"tags": ["a"], "inner": {"list": [1]}, "text": "t"}
    head, stored = payloads.seal_change(INSTANCE, head, change(result))
    result["tags"].append("b")
    result["inner"]["list"].append(2)
    result["text"] = "changed"
    assert payloads.held(INSTANCE, head).data == {
        "kept": {"n": 1}, "tags": ["a"], "inner": {"list": [1]}, "text": "t",
    }  # fmt: skip
    assert digest(whole(known, stored)) == head


def test_what_another_branch_wrote_since_the_base_is_neither_lost_nor_overwritten() -> None:
    payloads, first = started({"n": 1, "inner": {"a": 1}})
    base = payloads.held(INSTANCE, first)
    head, _ = payloads.seal_change(INSTANCE, first, change({"inner": {"a": 2}}))
    both, _ = payloads.seal_change(INSTANCE, head, change({"inner": {"b": 3}}, base=base))
    assert payloads.held(INSTANCE, both).data == {"n": 1, "inner": {"a": 2, "b": 3}}
    with pytest.raises(MergeConflictError, match=r"/inner/a"):
        payloads.seal_change(INSTANCE, head, change({"inner": {"a": 3}}, base=base))


names = st.sampled_from("ab")
bushes = st.recursive(st.just({}) | st.integers(0, 1), lambda inner: st.dictionaries(names, inner), max_leaves=4)
branches = st.tuples(st.dictionaries(names, bushes), st.sampled_from([(), ("a", "b")]))


@given(st.dictionaries(names, bushes), st.lists(branches, min_size=2, max_size=3))
@settings(deadline=None, max_examples=300)
def test_the_order_in_which_branches_finish_shows_nowhere_in_data(first: dict[str, Any], patches: list[Any]) -> None:
    ends = set()
    for order in itertools.permutations(patches):
        payloads, head = started(first)
        base = payloads.held(INSTANCE, head)
        try:
            for patch, place in order:
                head, _ = payloads.seal_change(INSTANCE, head, change(patch, place=place, base=base))
            ends.add(payloads.held(INSTANCE, head).schema_hash)
        except MergeConflictError:
            ends.add("conflict")
    assert len(ends) == 1


def test_results_without_data_change_nothing_wherever_they_belong() -> None:
    payloads, first = started({"n": 1})
    base = payloads.held(INSTANCE, first)
    head, _ = payloads.seal_change(INSTANCE, first, change({}, place=("many", "1"), base=base))
    head, _ = payloads.seal_change(INSTANCE, head, change({}, place=("many", "1"), base=base))
    assert payloads.held(INSTANCE, head).data == {"n": 1}


def test_a_refused_change_leaves_nothing_behind() -> None:
    payloads, head = started({"n": 1})
    with pytest.raises(PayloadTooLargeError, match="/data/scan"):
        payloads.seal_change(INSTANCE, head, change({"scan": "x" * 900}), 1000)
    with pytest.raises(SchemaViolationError, match="/a/1"):
        payloads.seal_change(INSTANCE, head, change({"a": [0, {1, 2}]}))
    assert payloads.held(INSTANCE, head).data == {"n": 1}
    with pytest.raises(MissingPayload):
        payloads.seal_change(INSTANCE, digest(b"another head"), change({"n": 2}))


def test_what_is_forgotten_is_asked_for_again() -> None:
    payloads, head = started({"n": 1})
    payloads.forget(INSTANCE)
    assert payloads.find(INSTANCE, head) is None
    with pytest.raises(MissingPayload):
        payloads.held(INSTANCE, head)


def test_of_one_instance_the_last_payloads_are_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.processes.payloads.MAX_EACH", 2)
    payloads, first = started({"n": 0})
    second, _ = payloads.seal_change(INSTANCE, first, change({"n": 1}))
    third, _ = payloads.seal_change(INSTANCE, second, change({"n": 2}))
    assert payloads.find(INSTANCE, first) is None
    assert [payloads.held(INSTANCE, each).data for each in (second, third)] == [{"n": 1}, {"n": 2}]


def test_those_that_wrote_last_stay_when_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    payloads, head = started({"n": 0})
    idle, other = Id(b"d" * 16), Id(b"o" * 16)
    unused, _ = begun(payloads, idle, {"n": 0})
    head, _ = payloads.seal_change(INSTANCE, head, change({"n": 1}))
    monkeypatch.setattr("perdure.processes.payloads.MAX_HELD_BYTES", payloads._size)
    later, _ = begun(payloads, other, {"n": 0})
    assert payloads.find(idle, unused) is None
    assert payloads.find(INSTANCE, head) is not None and payloads.find(other, later) is not None
    for each in (INSTANCE, other):
        payloads.forget(each)
    assert payloads._size == 0


async def test_what_was_read_back_is_not_leaned_on_deeper() -> None:
    """However often an instance leaves memory: nobody knows then how many are behind it."""
    payloads, head = started({"n": 0})
    for n in range(MAX_DELTAS):
        head, stored = payloads.seal_change(INSTANCE, head, change({"n": n}))
        assert delta_of(stored) is not None
    whole_head = head
    head, stored = payloads.seal_change(INSTANCE, head, change({"n": "whole"}))
    assert delta_of(stored) is None and digest(stored) == head
    again = Payloads(Kept({head: stored}))
    await again.open(Id(INSTANCE), head)
    after, stored = again.seal_change(INSTANCE, head, change({"n": "after"}))
    assert delta_of(stored) is None and digest(stored) == after
    after, stored = again.seal_change(INSTANCE, after, change({"n": "leaning"}))
    assert delta_of(stored) is not None and whole_head != after
