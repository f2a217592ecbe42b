"""Every module of this folder is a rule."""

from __future__ import annotations

from typing import cast

from perdure.lifecycles.lint.rule import Rule
from perdure.lifecycles.lint.rules import (
    closed_for_ever,
    guard_verb,
    no_way_out,
    restless_cycle,
    rival_transitions,
    terminal_left,
    unfit_arguments,
    unknown_document_type,
    unknown_event,
    unknown_record,
    unknown_state,
    unknown_verb,
    unreachable_state,
    unread_fact,
)

RULES: tuple[Rule, ...] = tuple(
    cast(Rule, each)
    for each in (
        unreachable_state,
        no_way_out,
        terminal_left,
        rival_transitions,
        restless_cycle,
        closed_for_ever,
        unknown_verb,
        unfit_arguments,
        guard_verb,
        unknown_record,
        unknown_state,
        unknown_document_type,
        unknown_event,
        unread_fact,
    )
)
