"""Error end events inside subprocesses: what they raise is meant to be caught somewhere around them."""

from __future__ import annotations

from perdure.bpmn.machine.journal_entries import ErrorThrown
from perdure.bpmn.model import ErrorTrigger, Event, SubProcess
from perdure.bpmn.proof.finding_texts import FAILS, UNDONE
from perdure.bpmn.proof.process_graph import Outline
from perdure.bpmn.proof.state_transitions import After


def error_ends(outline: Outline) -> frozenset[str]:
    """Error end events of subprocesses that flows lead to; those of the process itself are meant to fail it."""
    return frozenset(
        part.id for part in outline.parts.values()
        if isinstance(part.node, Event) and part.node.position == "end"
        and any(isinstance(each, ErrorTrigger) for each in part.node.triggers) and _is_within(outline, part.scope)
    )  # fmt: skip


def uncaught(ends: frozenset[str], after: After) -> list[tuple[str, str]]:
    """End events whose error nothing caught in the last step, each with the detail of its finding."""
    how = FAILS if after.state.ended_at else UNDONE
    return [
        (entry.element, how + entry.code) for entry in after.entries
        if type(entry) is ErrorThrown and entry.kind == "error" and not entry.caught_by and entry.element in ends
    ]  # fmt: skip


def _is_within(outline: Outline, scope: str) -> bool:
    around = outline.parts.get(scope)
    if around is None:
        return False
    is_handler = isinstance(around.node, SubProcess) and around.node.kind == "event"
    return not is_handler or _is_within(outline, around.scope)
