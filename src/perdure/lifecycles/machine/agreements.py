"""Agreements of two people: a transition with four eyes, and a migration that leaves a decision behind.

| asked | answer |
|---|---|
| nothing is proposed, or something else | it is proposed |
| by who proposed it, or somebody behind them | refused |
| what was seen has changed since | it is proposed anew, and what changed is named |
| by a second person who may decide | agreed |
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from perdure.errors import Rejection
from perdure.human_tasks import AGENT
from perdure.journal import Origin
from perdure.journal.facts import fact_kind
from perdure.lifecycles.machine.definition import Lifecycle, Transition
from perdure.lifecycles.machine.entries import TransitionProposed
from perdure.lifecycles.machine.judgements import UNANNOUNCED
from perdure.lifecycles.machine.state import FactRead, Instance, Proposal

CONTEXT = "context"
"""Stands among the facts that were seen for the context of the instance."""


def seen_by(context: bytes, facts: tuple[FactRead, ...]) -> tuple[FactRead, ...]:
    """The context and facts by their hashes. An answer of a verb is asked for anew each time, and judged anew."""
    kept = (each for each in facts if fact_kind(each.key) not in UNANNOUNCED)
    return (FactRead(CONTEXT, context), *(FactRead(each.key, sha256(each.value).digest()) for each in kept))


def changed_since(proposal: Proposal, seen: tuple[FactRead, ...]) -> tuple[str, ...]:
    """The keys of what differs from what a proposal was made by."""
    before, now = ({each.key: each.value for each in facts} for facts in (proposal.seen, seen))
    return tuple(key for key in dict.fromkeys((*before, *now)) if before.get(key) != now.get(key))


def proposal_of(
    origin: Origin, target: str, reason: str, now: int, facts: tuple[FactRead, ...] = (), number: int = 0
) -> TransitionProposed:
    return TransitionProposed(target, origin.principal, origin.names, reason, now, facts, number)


def refused_second(proposal: Proposal, origin: Origin, do: str, what: str, id: str) -> Rejection | None:
    """Why who asks cannot be the second person; None when they can."""
    if set(origin.names).isdisjoint(proposal.names):
        return None
    return Rejection("forbidden", do, what, id, f"'{proposal.by}' proposed it, and a second person has to agree")


def is_decision(transition: Transition) -> bool:
    """Whether a transition is for some people, or for two."""
    return transition.mode == "manual" and bool(transition.role or transition.four_eyes)


def is_override(before: Lifecycle, after: Lifecycle, state: str, target: str) -> bool:
    """Whether a migration may lead past a decision, or past what a state requires.

    The state that it is in may have another name in the new version, which no state had before.
    """
    is_place, names = target == state or before.state(target) is None, {state: target}
    if is_place and _ways(before, names) == _ways(after) and _ends(before, names) == _ends(after):
        return False
    return any(map(is_decision, before.transitions)) or (
        not is_place and any(each.requirements for each in before.states)
    )


def refused_override(before: Lifecycle, origin: Origin, letters: str) -> Rejection | None:
    """Why who asks may not agree to leave decisions behind: who could have taken one of them may."""
    if origin.principal.startswith(AGENT):
        fact = f"'{origin.principal}' is an agent, and people decide"
        return Rejection("forbidden", "migrate", "lifecycle", letters, fact)
    roles = dict.fromkeys(each.role for each in before.transitions if is_decision(each))
    if not roles or "" in roles or any(role in origin.groups for role in roles):
        return None
    fact = f"it leads past a decision of {' or '.join(roles)}, and '{origin.principal}' belongs to none of them"
    return Rejection("forbidden", "migrate", "lifecycle", letters, fact)


def is_proposed(state: Instance, target: str, number: int = 0) -> bool:
    return state.proposal is not None and (state.proposal.target, state.proposal.number) == (target, number)


def _ways(definition: Lifecycle, names: Mapping[str, str] = {}) -> set[tuple[str, str, str, str, bool]]:
    """Every transition by its ends, under their new names, and by who may take it."""
    return {
        (names.get(each.source, each.source), names.get(each.target, each.target), each.mode, each.role, each.four_eyes)
        for each in definition.transitions
    }


def _ends(definition: Lifecycle, names: Mapping[str, str] = {}) -> set[str]:
    return {names.get(each.name, each.name) for each in definition.states if each.is_terminal}
