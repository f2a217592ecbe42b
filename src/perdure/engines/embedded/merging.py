"""Merging: where a sub-verb's changes belong in an instance's data, and what happens when branches meet there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.bpmn.machine.state import Instance, Node
from perdure.payload import Envelope, changed_paths, data_hash, merge, merge_concurrent, with_data, with_trail
from perdure.payload.envelope import TrailEntry

Data = dict[str, Any]
Place = tuple[str, ...]


class Change:
    """What someone brings: a patch, where it belongs, and who it is from."""

    __slots__ = ("at", "by", "key", "patch", "verb")

    def __init__(self, patch: Mapping[str, Any], verb: str, key: str, at: str, by: str) -> None:
        self.patch, self.verb, self.key, self.at, self.by = patch, verb, key, at, by


def place_of(state: Instance, node: Node) -> Place:
    """Where the results of a node belong: under each multi-instance activity around it and the iteration it is in."""
    place: list[str] = []
    current: Node | None = node
    while current is not None:
        parent = state.nodes.get(current.parent)
        if parent is not None and parent.kind == "many":
            place[:0] = (parent.element, str(current.iteration))
        current = parent if parent is not current else None
    return tuple(place)


def seen_from(data: Data, place: Place) -> Data:
    """The data as a node sees it: what its own iteration brought lies over everything else."""
    own: Any = data
    for name in place:
        own = own.get(name) if isinstance(own, dict) else None
    return merge(data, own) if place and isinstance(own, dict) else data


def nested(patch: Mapping[str, Any], place: Place) -> Data:
    value: Data = dict(patch)
    for name in reversed(place):
        value = {name: value}
    return value


def changed(current: Envelope, base: Envelope | None, change: Change, place: Place = ()) -> Envelope:
    """The payload after a change; MergeConflictError when another branch changed the same path since `base`."""
    patch = nested(change.patch, place)
    if not patch:
        return _trailed(current, current.data, current.schema_hash, change)
    if base is None or base.schema_hash == current.schema_hash:
        data = merge(current.data, patch)
    else:
        others = _verbs_since(base, current)
        data = merge_concurrent(base.data, [(others, difference(base.data, current.data)), (change.verb, patch)], {})
    return _trailed(current, data, data_hash(data), change)


def _trailed(current: Envelope, data: Data, hash: str, change: Change) -> Envelope:
    entry = TrailEntry(
        at=change.at, by=change.by, hash_in=current.schema_hash, hash_out=hash, job_key=change.key, verb=change.verb
    )
    return with_trail(with_data(current, data, by=change.verb), entry)


def _verbs_since(base: Envelope, current: Envelope) -> str:
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
