"""Impact rows: what a deployment means for running work, as the conversation lists it."""

from __future__ import annotations

from perdure.app.deployments.views import DeploymentImpact, StateImpact
from perdure.surfaces.repl.conversation_messages import Rows

COLUMNS = ("what", "state", "verdict", "how, or why not")


def impact_rows(found: DeploymentImpact) -> Rows:
    """Every parked state, every text of a verb that nobody would serve, and what was not decided."""
    rows = [
        (each.process, _standing(state), state.verdict.replace("_", " "), _told(state))
        for each in found.processes
        for state in each.states
    ]
    rows += [
        (each.verb, f"v{each.version}", each.verdict.replace("_", " "), each.reason)
        for each in found.verbs
        if each.verdict != "goes_on"
    ]
    rows += [("", "", "not decided", each) for each in found.bounds]
    return Rows("Impact", COLUMNS, tuple(rows), "Nothing runs that it concerns.")


def _standing(state: StateImpact) -> str:
    return f"{state.instances} on v{state.version} at {', '.join(token.element for token in state.standing)}"


def _told(state: StateImpact) -> str:
    mapping = ", ".join(f"{old} becomes {new}" for old, new in state.mapping.items())
    return "; ".join(each for each in (state.reason, mapping) if each)
