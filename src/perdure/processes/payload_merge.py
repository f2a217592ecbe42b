"""Merging: a sub-verb's changes laid at their place in the data, and what happens when branches meet there.

| a path that a change writes | what is kept |
|---|---|
| nobody else changed it since the base | the new value |
| another branch changed it, no rule | nothing: a conflict that names both verbs |
| rule `sum` | what is there, plus the difference to the base |
| rule `any`, `all`, `max` | the rule over what is there and the new value |

A rule holds for every write of its path, also where no other branch has written yet: so the order of branches shows
nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.bpmn.machine.state import Place
from perdure.payload import (
    Held,
    MergeRule,
    Settled,
    changed_paths,
    is_untouched,
    merge,
    merge_concurrent,
    merge_settled,
    ruled_part,
    settled,
)

Data = dict[str, Any]


class Change(msgspec.Struct, frozen=True, gc=False):
    """What someone brings: a patch, where it belongs, who it is from, and the head they started from."""

    patch: Data
    verb: str
    key: str
    at: str
    by: str
    place: Place = ()
    base: Held | None = None
    rules: Mapping[str, MergeRule] = {}


def seen_from(data: Data, place: Place) -> Data:
    """The data as a node sees it: what its own iteration brought lies over everything else."""
    if not place:
        return data
    own: Any = data
    for name in place:
        own = own.get(name) if isinstance(own, dict) else None
    return merge(data, own) if isinstance(own, dict) else data


def nested(patch: Data, place: Place) -> Data:
    """The patch under its place; an empty one changes nothing anywhere."""
    value = patch
    for name in reversed(place if patch else ()):
        value = {name: value}
    return value


def changed(current: Held, change: Change) -> Settled:
    """The data after a change; MergeConflictError when another branch changed the same path since its base."""
    patch, base = change.patch, change.base
    if change.place:
        patch = nested(patch, change.place)
    if not patch:
        return settled(current.data)
    if change.rules and (ruled := ruled_part(current.data, patch, change.rules)) is not None:
        return settled(_combined(current, change, patch, ruled))
    if base is None or base.schema_hash == current.schema_hash or is_untouched(base.data, current.data, patch):
        return merge_settled(current.data, patch)
    others = _verbs_since(base, current)
    changes = [(others, difference(base.data, current.data)), (change.verb, patch)]
    return settled(merge_concurrent(base.data, changes, {}))


def _combined(current: Held, change: Change, patch: Data, ruled: Data) -> Data:
    """The data where a change writes paths with a rule: what is there at those paths counts as written, too."""
    base = change.base or current
    present = merge(difference(base.data, current.data), ruled)
    changes = [(_verbs_since(base, current), present), (change.verb, patch)]
    return merge_concurrent(base.data, changes, change.rules)


def _verbs_since(base: Held, current: Held) -> str:
    known = set(base.sub_verb_trail)
    return ", ".join(dict.fromkeys(each.verb for each in current.sub_verb_trail if each not in known)) or "another"


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> Data:
    """The patch that leads from one data to another; nothing is ever taken away from data."""
    patch: Data = {}
    for name, value in new.items():
        before = old.get(name)
        if name in old and isinstance(before, dict) and isinstance(value, dict):
            if inner := difference(before, value):
                patch[name] = inner
        elif name not in old or changed_paths({name: before}, {name: value}):
            patch[name] = value
    return patch
