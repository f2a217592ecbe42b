"""Merging: patches of one branch or of several become one payload, and no change is lost silently."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.errors import MergeConflictError, SchemaViolationError
from perdure.payload import canonical, changed_paths, is_untouched, merge, merge_concurrent, merge_settled, settled

BASE: dict[str, Any] = {"case": {"id": 1, "state": "open"}, "tags": ["a"], "count": 10, "ok": False}


def test_objects_merge_lists_and_scalars_replace_and_none_sets_null() -> None:
    patch = {"case": {"state": "closed", "by": "me"}, "tags": ["b"], "count": None, "new": {"x": {}}}
    assert merge(BASE, patch) == {
        "case": {"id": 1, "state": "closed", "by": "me"},
        "tags": ["b"],
        "count": None,
        "ok": False,
        "new": {"x": {}},
    }


def test_merging_leaves_its_arguments_alone() -> None:
    before = canonical(BASE)
    patch = {"case": {"state": "closed"}}
    merged = merge(BASE, patch)
    merged["case"]["id"] = 99
    assert canonical(BASE) == before
    assert patch == {"case": {"state": "closed"}}


keys = st.sampled_from(["a", "b", "ä", "\uffff", "\U00010000", '"'])
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([1.0, -0.0, 1e20, "", "ä", "9" * 20])
flats = st.dictionaries(keys, scalars, max_size=4)
objects = flats | st.dictionaries(keys, scalars | st.lists(scalars, max_size=2) | st.just({}) | flats, max_size=4)


@given(objects, objects)
@example({"a": {"b": 1}}, {"a": {"ä": 2}, "b": None})
@example({"a": {"b": 1}}, {"a": {}})
@settings(deadline=None)
def test_data_is_merged_and_settled_at_once_as_one_after_the_other(data: dict[str, Any], patch: dict[str, Any]) -> None:
    # Types and the order of fields too.
    assert repr(merge_settled(data, patch)) == repr(settled(merge(data, patch)))


@pytest.mark.parametrize("wrong", [{1: "a"}, {"a": {1, 2}}, {"a": "\ud800"}, {"a": {"b": 2**53}}, {"a": b"bytes"}])
def test_what_cannot_be_settled_is_refused_in_the_same_words_when_it_is_merged_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(SchemaViolationError) as apart:
        settled(merge({"n": 1}, wrong))
    with pytest.raises(SchemaViolationError) as at_once:
        merge_settled({"n": 1}, wrong)
    assert str(at_once.value) == str(apart.value)
    assert at_once.value.data == apart.value.data


def test_an_undeclared_output_is_refused_by_name() -> None:
    assert merge({}, {"a": 1}, declared=["a"]) == {"a": 1}
    with pytest.raises(SchemaViolationError, match=r"'/b', but it is not a declared output\. Declared outputs: a, c\."):
        merge({}, {"b": 1}, declared=["c", "a"])


def test_changed_paths_name_every_difference_as_json_sees_it() -> None:
    old = {"a": {"b": 1, "gone": 1}, "list": [1], "same": 1, "x/y": 0, "truth": 1}
    new = {"a": {"b": 2}, "list": [2], "same": 1.0, "x/y": 1, "truth": True, "added": None}
    assert changed_paths(old, new) == ("/a/b", "/a/gone", "/added", "/list", "/truth", "/x~1y")
    assert changed_paths(old, old) == ()


def test_branches_that_write_different_fields_are_merged_in_any_order() -> None:
    changes = [("one", {"case": {"state": "x"}}), ("two", {"case": {"by": "me"}}), ("three", {"ok": True})]
    results = [merge_concurrent(BASE, list(order), {}) for order in itertools.permutations(changes)]
    assert all(result == results[0] for result in results)
    assert results[0] == {**BASE, "case": {"id": 1, "state": "x", "by": "me"}, "ok": True}


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        ({"count": 1}, {"count": 2}, "/count"),
        ({"count": 1}, {"count": 1}, "/count"),
        ({"case": {"state": "x"}}, {"case": {"state": "y"}}, "/case/state"),
        ({"case": None}, {"case": {"state": "y"}}, "/case"),
        ({"case": {"state": "y"}}, {"case": "gone"}, "/case"),
        ({"new": {}}, {"new": 1}, "/new"),
        ({"new": {}}, {"new": None}, "/new"),
        ({"new": {"x": {}}}, {"new": [1]}, "/new"),
        ({"count": {}}, {"count": 11}, "/count"),
    ],
)
def test_a_path_changed_by_two_branches_names_the_path_and_both_verbs(
    first: dict[str, Any], second: dict[str, Any], path: str
) -> None:
    for changes in ([("kyc.b", first), ("kyc.a", second)], [("kyc.a", second), ("kyc.b", first)]):
        with pytest.raises(MergeConflictError) as caught:
            merge_concurrent(BASE, changes, {})
        assert caught.value.data == {"path": path, "verbs": ("kyc.a", "kyc.b")}
        assert "'kyc.a' and 'kyc.b'" in str(caught.value)


def test_two_runs_of_one_verb_conflict_like_any_other_two() -> None:
    with pytest.raises(MergeConflictError, match=r"'kyc\.a' and 'kyc\.a'"):
        merge_concurrent(BASE, [("kyc.a", {"count": 1}), ("kyc.a", {"count": 2})], {})


def test_a_branch_that_repeats_what_was_there_changed_nothing() -> None:
    changes = [("one", {"count": 10, "case": {}}), ("two", {"count": 11})]
    assert merge_concurrent(BASE, changes, {}) == {**BASE, "count": 11}


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ({"new": {}}, {"new": {}}, {"new": {}}),
        ({"new": {}}, {"new": {"x": 1}}, {"new": {"x": 1}}),
        ({"new": {"x": {}}}, {"new": {"x": {"y": 1}, "z": 2}}, {"new": {"x": {"y": 1}, "z": 2}}),
        ({"count": {}}, {"count": {"x": 1}}, {"count": {"x": 1}}),
        ({"case": {}}, {"case": None}, {"case": None}),
    ],
)
def test_an_empty_object_agrees_with_any_object_another_branch_writes_there(
    first: dict[str, Any], second: dict[str, Any], merged: dict[str, Any]
) -> None:
    for changes in ([("one", first), ("two", second)], [("two", second), ("one", first)]):
        assert merge_concurrent(BASE, changes, {}) == {**BASE, **merged}


def test_declared_rules_combine_what_branches_wrote() -> None:
    one = {"ok": True, "all": True, "count": 12, "top": 3}
    two = {"ok": False, "all": False, "count": 11, "top": 5}
    rules: Any = {"/ok": "any", "/all": "all", "/count": "sum", "/top": "max"}
    merged = merge_concurrent({**BASE, "all": False}, [("one", one), ("two", two)], rules)
    assert merged == {**BASE, "ok": True, "all": False, "count": 13, "top": 5}


def test_all_looks_at_a_value_equal_to_the_base_too() -> None:
    changes = [("one", {"ok": True}), ("two", {"ok": False})]
    assert merge_concurrent(BASE, changes, {"/ok": "all"})["ok"] is False


def test_a_rule_does_not_excuse_replacing_the_object_around_its_path() -> None:
    changes = [("one", {"case": {"count": 1}}), ("two", {"case": None})]
    with pytest.raises(MergeConflictError, match="'/case'"):
        merge_concurrent(BASE, changes, {"/case/count": "sum"})


def test_a_rule_on_a_value_of_the_wrong_type_is_refused() -> None:
    for rule, value in (("any", 1), ("sum", True), ("max", "x"), ("sum", None)):
        rules: Any = {"/new": rule}
        with pytest.raises(SchemaViolationError, match=f"merge rule '{rule}' takes"):
            merge_concurrent(BASE, [("one", {"new": value})], rules)


@given(st.lists(st.integers(-1000, 1000) | st.floats(-1e6, 1e6), min_size=1, max_size=6), st.randoms())
@settings(deadline=None, max_examples=200)
def test_a_sum_does_not_depend_on_the_order_of_branches(values: list[float], source: Any) -> None:
    changes = [(f"verb-{number}", {"count": value}) for number, value in enumerate(values)]
    turned = list(changes)
    source.shuffle(turned)
    assert merge_concurrent(BASE, changes, {"/count": "sum"}) == merge_concurrent(BASE, turned, {"/count": "sum"})


def test_a_patch_nested_too_deeply_is_refused() -> None:
    patch: dict[str, Any] = {}
    for _ in range(3_000):
        patch = {"a": patch}
    for ask in (
        lambda: merge({}, patch),
        lambda: merge_concurrent({}, [("v", patch)], {}),
        lambda: changed_paths(patch, patch),
    ):
        with pytest.raises(SchemaViolationError, match="deeper than 100"):
            ask()


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_merging_what_nobody_else_touched_is_merging_concurrently(data: st.DataObject) -> None:
    values = st.one_of(st.integers(0, 2), st.booleans(), st.dictionaries(st.sampled_from("xy"), st.integers(0, 1)))
    some = st.dictionaries(st.sampled_from("abc"), values)
    base, others, patch = data.draw(some), data.draw(some), data.draw(some)
    current = merge(base, others)
    if is_untouched(base, current, patch):
        together = merge_concurrent(base, [("one", others), ("two", patch)], {})
        assert canonical(merge(current, patch)) == canonical(together)


def test_a_field_is_touched_when_its_json_changed() -> None:
    assert not is_untouched({"a": 1}, {"a": True}, ["a"])
    assert not is_untouched({}, {"a": None}, ["a"])
    assert is_untouched({"a": 1, "b": 2}, {"a": 1.0, "b": 3}, ["a", "c"])
