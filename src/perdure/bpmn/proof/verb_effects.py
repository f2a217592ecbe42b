"""The environment of a process: flags that each verb may write and errors that it may raise."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from perdure.bpmn.model import Event, Node, Task

ANY_CODE = "ANY"
"""The code of an error that only a catch of every error catches."""


class Environment(msgspec.Struct, frozen=True):
    """`may_raise` and `writes` by verb. A verb that is not named may raise whatever is caught around it, and may write
    every flag. A wait without an intake verb writes nothing, or, where no contract was given, every flag as well."""

    may_raise: Mapping[str, Collection[str]] = {}
    writes: Mapping[str, Collection[str]] = {}
    is_loose: bool = True

    def written(self, verb: str) -> Collection[str] | None:
        """The flags a verb may write; None for all of them. Without a verb it is a wait that takes things in alone."""
        if not verb:
            return None if self.is_loose else ()
        return self.writes.get(verb)

    def raised(self, verb: str) -> Collection[str] | None:
        """The codes of the business errors a verb may raise; None when that is not known."""
        return self.may_raise.get(verb)


def verb_of(node: Node) -> str:
    """The verb that does the work of an element; empty when it has none."""
    return node.type if isinstance(node, Task | Event) else ""


def intake_of(node: Node) -> str:
    """The verb that takes in what a wait was given."""
    return node.properties.get("intake", "")
