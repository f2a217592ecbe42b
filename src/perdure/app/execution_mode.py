"""Execution modes: how a step is carried, in the words of runbooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from perdure.runbooks.machine.state import Step

if TYPE_CHECKING:
    from perdure.verbs import Catalogue

ModeOf = Callable[[Step], str]
"""Says how a step is carried."""


def modes_of(catalogue: Catalogue) -> ModeOf:
    """`sync`, `durable`, or `human_gate` where a person has to agree or to answer; empty of a choice.

    A step whose verb nobody loads is told by what has happened to it.
    """

    def mode(step: Step) -> str:
        verb = catalogue.find(step.verb, step.version) if step.verb else None
        has_task = any(token.task is not None for token in step.tokens)
        if (step.links is not None and step.links.gate) or has_task:
            return "human_gate"
        if verb is not None:
            return "human_gate" if verb.execution.task is not None else verb.execution.kind
        return "durable" if step.carrier is not None or step.tokens else ""

    return mode
