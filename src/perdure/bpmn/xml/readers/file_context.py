"""One file being read: its problems, its ids, and the attributes of its elements with their types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from perdure.bpmn.model import Place, Remark, Value
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import with_article
from perdure.bpmn.xml.read_limits import MAX_PROBLEMS
from perdure.bpmn.xml.value_text import parse_value
from perdure.errors import Problem

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_Choice = TypeVar("_Choice")


class Reading:
    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.remarks: list[Remark] = []
        self.tags: dict[str, Tag] = {}
        """Every element of the file that has an id, before anything is read."""
        self.places: dict[str, Place] = {}
        self.definitions: dict[str, Tag] = {}
        """Event definitions that stand at the root, by id."""
        self.values: dict[str, str] = {}
        """Texts of category values and names of data stores, by id."""

    def is_full(self) -> bool:
        """Whether no further problem would be told."""
        return len(self.problems) >= MAX_PROBLEMS

    def report(self, code: str, tag: Tag, fact: str, hint: str = "") -> None:
        self.report_at(code, tag.get("id"), Place(tag.line, tag.column), fact, hint)

    def report_at(self, code: str, element: str, place: Place, fact: str, hint: str = "") -> None:
        if not self.is_full():
            self.problems.append(Problem(code, self.file, place.line, place.column, element, fact, hint))

    def is_remarked(self) -> bool:
        """Whether no further remark would be kept."""
        return len(self.remarks) >= MAX_PROBLEMS

    def remark(self, code: str, tag: Tag, fact: str, hint: str) -> None:
        """Notes what is passed over without harm."""
        if not self.is_remarked():
            place = Place(tag.line, tag.column)
            self.remarks.append(Remark(code=code, element=tag.get("id"), fact=fact, hint=hint, place=place))

    def id(self, tag: Tag) -> str:
        """The id, which must be there."""
        id = tag.get("id")
        if not id:
            self.report("BPM006", tag, f"{with_article(_local(tag))} has no id", "Give it an id of its own.")
        self.places.setdefault(id, Place(tag.line, tag.column))
        return id

    def reference(self, tag: Tag, name: str) -> str:
        return self.resolve(tag.get(name))

    def resolve(self, text: str) -> str:
        """The id meant: a qualified name may carry a prefix, which says nothing within a file."""
        text = text.strip()
        local = text.rpartition(":")[2]
        return local if text not in self.tags and local in self.tags else text

    def required(self, tag: Tag, name: str) -> str:
        if not tag.get(name):
            self.report("BPM011", tag, f"the {_local(tag)} has no {name}", f"Add {name}, with the id of an element.")
        return tag.get(name)

    def only(self, tag: Tag, name: str) -> Tag | None:
        """The child of that name, which may be given once."""
        found = list(tag.all(name))
        if len(found) > 1:
            local = name.rpartition(":")[2]
            self.report("BPM015", found[1], f"the {local} of the {_local(tag)} is given twice", "Remove one.")
        return found[0] if found else None

    def boolean(self, tag: Tag, name: str, default: bool = False) -> bool:
        text = tag.attributes.get(name)
        return default if text is None else self._one_of(tag, name, text.strip(), _BOOLEANS, default)

    def choice(self, tag: Tag, name: str, choices: Mapping[str, _Choice], default: _Choice) -> _Choice:
        text = tag.attributes.get(name)
        return default if text is None else self._one_of(tag, name, text, choices, default)

    def number(self, tag: Tag, name: str, *, is_feel: bool = False) -> int | None:
        """A whole number of at most nine digits; where expressions may stand, `=5` is 5."""
        text = tag.attributes.get(name)
        if text is None:
            return None
        match = re.fullmatch(r"\s*(=\s*)?([0-9]{1,9})\s*", text, re.ASCII)
        if match and (is_feel or not match[1]):
            return int(match[2])
        self.report("BPM014", tag, f"{name} is '{text[:40]}', not a whole number", "Write a number.")
        return None

    def value(self, tag: Tag | None, name: str) -> Value | None:
        text = None if tag is None else tag.attributes.get(name)
        return None if text is None else parse_value(text)

    def _one_of(self, tag: Tag, name: str, text: str, choices: Mapping[str, _Choice], default: _Choice) -> _Choice:
        if text in choices:
            return choices[text]
        self.report("BPM014", tag, f"{name} is '{text[:40]}'", f"It may be {' or '.join(choices)}.")
        return default


def _local(tag: Tag) -> str:
    return tag.name.rpartition(":")[2]
