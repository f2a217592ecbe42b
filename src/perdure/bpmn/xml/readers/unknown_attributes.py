"""Attributes that BPMN 2.0 does not know, and words it does not know in attributes nothing is built from."""

from __future__ import annotations

from difflib import get_close_matches

from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.known_attributes import KNOWN, VALUES
from perdure.bpmn.xml.namespaces import with_article
from perdure.bpmn.xml.readers.file_context import Reading


def look_at_spelling(reading: Reading, root: Tag) -> None:
    """Remarks on attributes that are passed over."""
    for tag in root.within():
        if tag.name in KNOWN:
            _attributes(reading, tag, KNOWN[tag.name])


def _attributes(reading: Reading, tag: Tag, known: frozenset[str]) -> None:
    for name, text in tag.attributes.items():
        if name in VALUES and text not in VALUES[name]:
            fact = f"{name} is '{text[:40]}', which is nothing it can be"
            reading.remark("BPM014", tag, fact, f"It may be {' or '.join(VALUES[name])}.")
        elif name not in known and ":" not in name and not name.startswith("{"):
            _unknown(reading, tag, name, known)


def _unknown(reading: Reading, tag: Tag, name: str, known: frozenset[str]) -> None:
    if reading.is_remarked():
        return
    lower = {each.lower(): each for each in sorted(known)}
    near = [lower[each] for each in get_close_matches(name.lower(), list(lower), 1)]
    hint = f"Did you mean '{near[0]}'?" if near else "Remove it, or give it a prefix of its own."
    fact = f"{with_article(tag.name.removeprefix('bpmn:'))} has no attribute '{name[:80]}': it has no effect"
    reading.remark("BPM018", tag, fact, hint)
