"""The keys of a lifecycle file: which are accepted where, and what each means."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PLACES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "lifecycle": {
            "lifecycle": "The name of the lifecycle, or a mapping with all of the other keys and `name`",
            "workflow": "The same as `lifecycle`, as the sources write it",
            "name": "The name, where the other keys stand inside `lifecycle` or `workflow`",
            "version": "The author's own label of this version; numbers are given at deployment",
            "description": "One sentence",
            "trigger": "The event that begins an instance by itself",
            "states": "States by name; the first is the initial one unless another says so",
            "transitions": "The ways from state to state, tried in this order",
            "requirements": "Requirements by state, for those that do not stand in their state",
            "guards": "Guards by name, for transitions that share one",
            "actions": "Calls that are offered, or made, by state",
        },
        "state": {
            "description": "One sentence",
            "initial": "Whether instances begin here",
            "terminal": "Whether instances end here",
            "timeout_hours": "After so many hours in this state it is overdue, or left by a transition with `timeout`",
            "timeout": "The same as an ISO 8601 duration",
            "requirements": "What is needed before this state is left by itself",
            "on_fail": "The blocker of every requirement of this state that has none of its own",
        },
        "transition": {
            "from": "The state, or a list of states, it leads from",
            "to": "The state it leads to",
            "guard": "A guard, a list of guards, the name of one, or `requirements`",
            "auto": "Taken by itself as soon as requirements and guard hold (the default)",
            "manual": "Taken by a person only",
            "after": "Taken so long after its state was entered, as an ISO 8601 duration",
            "timeout": "Taken when the `timeout_hours` of its state are over",
            "role": "The group that a person must belong to",
            "reason": "Whether a person must give a reason: `required` or true",
            "four_eyes": "Whether a second person must agree",
            "description": "One sentence",
        },
        "requirement": {
            "type": "The kind of guard",
            "id": "The name of the requirement within its state; default: what its guard asks for",
            "description": "One sentence for people who are asked",
            "on_fail": "The blocker while it is not met",
        },
        "on_fail": {"blocker": "The blocker"},
        "blocker": {
            "type": "A word for the kind of blocker, such as MissingDocument",
            "description": "One sentence",
            "resolution": "The call that would open it: an S-expression, or a mapping of `verb` and `args`",
            "auto": "Whether the call is made by itself",
            "expires": "When the pending task expires, as an ISO 8601 duration",
            "expires_hours": "The same in hours",
            "max_attempts": "How often it may be asked for in one stay in the state",
            "expected": "How many pieces of cargo complete the task",
        },
        "resolution": {"verb": "The verb", "args": "Its arguments; `$name` stands for a value of the context"},
        "action": {
            "action": "The name of the action",
            "verb": "The verb that is called",
            "description": "One sentence",
            "params": "Its arguments; `$name` stands for a value of the context",
            "auto": "Whether the call is made by itself, once each time the state is entered",
        },
        "trigger": {
            "event": "The name of the event: of a record, a document or another lifecycle",
            "conditions": "Conditions that must all hold",
            "subject": "The field of the event that names the subject; default: whom the event is about",
            "context": "Names of the context, each with the field of the event that it gets its value from",
        },
        "condition": {
            "field": "A field of the event",
            "in": "The values of which it must have one",
            "equals": "The value it must have",
        },
    }
)

COMBINED_KEYS = {
    "all": "A list of guards that must all hold",
    "any": "A list of guards of which one must hold",
    "not": "A guard that must not hold",
    "count": "A mapping of `at_least` and `of`: so many guards of the list must hold",
}
