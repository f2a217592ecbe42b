"""Properties of a user task: four eyes, agents, its ladder of reminders and reassignments, its body and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from perdure.human_tasks import MAX_RUNGS, RungAct, RungRule, ladder_of, read_rungs

PREFIX = "perdure:"
FOUR_EYES = "perdure:fourEyes"
AGENTS = "perdure:agents"
RUNGS: dict[str, RungAct] = {
    "perdure:remind": "remind",
    "perdure:reassign": "reassign",
    "perdure:escalate": "escalate",
}
BODY = "perdure:body"
"""What is asked, at length: a template of `{variable}`, filled when somebody looks."""
LABELS = "perdure:labels"
"""Words to sort tasks by, with commas."""
KNOWN = (FOUR_EYES, AGENTS, BODY, LABELS, *RUNGS)


class TaskRules(NamedTuple):
    four_eyes: bool = False
    ladder: tuple[RungRule, ...] = ()
    agents: bool = False


NO_RULES = TaskRules()


def rules_of(properties: Mapping[str, str]) -> TaskRules:
    """What holds for a task. Where lint was passed over, what is no rung is left out and a doubt is for two people."""
    if not any(name in properties for name in KNOWN):
        return NO_RULES
    found = [rung for name, act in RUNGS.items() if name in properties for rung in read_rungs(act, properties[name])[0]]
    is_needed = properties.get(FOUR_EYES, "false").strip() != "false"
    is_for_agents = properties.get(AGENTS, "false").strip() == "true"
    return TaskRules(is_needed, ladder_of(found)[:MAX_RUNGS], is_for_agents)


def ladder_faults(properties: Mapping[str, str]) -> list[tuple[str, str]]:
    """The properties that are no rungs, each with the reason."""
    faults, count = [], 0
    for name, act in RUNGS.items():
        if name in properties:
            rungs, fault = read_rungs(act, properties[name])
            count += len(rungs)
            faults.extend([(name, fault)] if fault else [])
    return [*faults, ("its ladder", f"it has {count} steps and may have {MAX_RUNGS}")] if count > MAX_RUNGS else faults
