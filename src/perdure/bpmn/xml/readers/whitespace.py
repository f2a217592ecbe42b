"""Blanks around ids and references: XML Schema takes them away, so they are no part of a name."""

from __future__ import annotations

from perdure.bpmn.xml.element import Tag

_NAMES = frozenset(("id", "default", "calledElement", "bpmnElement"))
_OURS = ("bpmn:", "bpmndi:")


def drop_blanks(root: Tag) -> None:
    """Takes the blanks around every id and every reference away; what extensions hold stays as it is."""
    for tag in root.within():
        if tag.name.startswith(_OURS):
            for name, text in tag.attributes.items():
                if (name in _NAMES or name.endswith("Ref")) and text != text.strip():
                    tag.attributes[name] = text.strip()
