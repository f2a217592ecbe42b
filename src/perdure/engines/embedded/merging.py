"""Merging: where a sub-verb's changes belong in an instance's data, and what happens when branches meet there."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.bpmn.machine.state import ROOT, Instance, Node
from perdure.payload import (
    TRAIL_LENGTH,
    Envelope,
    TrailEntry,
    canonical,
    changed_paths,
    is_untouched,
    merge,
    merge_concurrent,
)

Data = dict[str, Any]
Place = tuple[str, ...]


class Change:
    """What someone brings: a patch, where it belongs, and who it is from."""

    __slots__ = ("at", "by", "key", "patch", "verb")

    def __init__(self, patch: Mapping[str, Any], verb: str, key: str, at: str, by: str) -> None:
        self.patch, self.verb, self.key, self.at, self.by = patch, verb, key, at, by


class Changed(msgspec.Struct, frozen=True, gc=False):
    """A payload after a change, the canonical bytes of its data, and what it was before."""

    envelope: Envelope
    data: bytes
    before: Envelope


def place_of(state: Instance, node: Node) -> Place:
    """Where the results of a node belong: under each multi-instance activity around it and the iteration it is in."""
    if node.parent == ROOT:
        return ()
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


def changed(current: Envelope, base: Envelope | None, change: Change, place: Place = ()) -> Changed:
    """The payload after a change; MergeConflictError when another branch changed the same path since `base`."""
    patch = nested(change.patch, place)
    data = _laid_over(current, base, change.verb, patch) if patch else current.data
    written = canonical(data)
    hash = "sha256:" + sha256(written).hexdigest()
    entry = TrailEntry(
        at=change.at, by=change.by, hash_in=current.schema_hash, hash_out=hash, job_key=change.key, verb=change.verb
    )
    trail = (*current.sub_verb_trail, entry)[-TRAIL_LENGTH:]
    envelope = replace(current, data=data, schema_hash=hash, last_modified_by=change.verb, sub_verb_trail=trail)
    return Changed(envelope, written, current)


def _laid_over(current: Envelope, base: Envelope | None, verb: str, patch: Data) -> Data:
    if base is None or base.schema_hash == current.schema_hash or is_untouched(base.data, current.data, patch):
        return merge(current.data, patch)
    others = _verbs_since(base, current)
    return merge_concurrent(base.data, [(others, difference(base.data, current.data)), (verb, patch)], {})


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
