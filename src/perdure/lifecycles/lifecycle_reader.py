"""Reads one lifecycle strictly, in either layout: every mistake becomes a problem with its place and a fix."""

from __future__ import annotations

import re
from typing import NamedTuple

from perdure.lifecycles.guard_reader import REQUIREMENT_KEYS, GuardReader
from perdure.lifecycles.guards import GuardTable
from perdure.lifecycles.machine.definition import (
    Action,
    Condition,
    Guard,
    Lifecycle,
    Mode,
    Requirement,
    State,
    Transition,
    Trigger,
)
from perdure.lifecycles.machine.state import ACTION
from perdure.lifecycles.resolution_reader import HOUR, Blocker, read_blocker
from perdure.lifecycles.yaml_keys import PLACES
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.sexpr.forms import snake
from perdure.verbs.yaml_nodes import Node, Report

NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
STATE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*")
MAX_STATES = 200
MAX_TRANSITIONS = 1000
MAX_REQUIREMENTS = 200
MAX_WORD = 100
REQUIREMENTS = ("requirements", "requirements_met", "all_requirements_met")
"""Words that stand for the requirements of a state, where a transition names its guard."""
ROOTS = ("lifecycle", "workflow")


class Place(NamedTuple):
    line: int
    column: int


class LifecycleFile(NamedTuple):
    """A lifecycle as read, and where its parts were written."""

    definition: Lifecycle
    file: str
    places: dict[tuple[str, ...], Place]
    """By `("state", name)`, `("transition", place)`, `("requirement", state, key)` and `("action", place)`."""

    def place(self, *part: str) -> Place:
        return self.places.get(part) or self.places.get(part[:2]) or Place(1, 1)


class LifecycleReader:
    """Reads the lifecycle of one document."""

    def __init__(self, file: str, report: Report, table: GuardTable) -> None:
        self._file = file
        self._report = report
        self._guards = GuardReader(file, report, table)
        self._table = table
        self._places: dict[tuple[str, ...], Place] = {}
        self._named: dict[str, Guard] = {}

    def read(self, node: Node) -> LifecycleFile:
        fields, name = self._root(node)
        if len(name) > MAX_WORD or not NAME.fullmatch(name):
            hint = "Use lower case words joined by underscores: kyc_onboarding."
            fields.wrong(
                node, "name", f"'{name[:80]}' is not the name of a lifecycle" if name else "it has no name", hint
            )
        self._named = {key: self._guards.read(each) for key, each in fields.mapping("guards").items()}
        states = self._states(fields)
        known = {each.name for each in states}
        transitions = self._transitions(fields, known, {each.name: each for each in states})
        label = fields.get("version")
        definition = Lifecycle(
            name,
            states,
            transitions,
            "" if label is None else str(label.value),
            fields.text("description"),
            self._actions(fields, known),
            self._trigger(fields),
        )
        return LifecycleFile(definition, self._file, self._places)

    def _root(self, node: Node) -> tuple[Fields, str]:
        for key in ROOTS:
            inside = node.value.get(key) if isinstance(node.value, dict) else None
            if inside is not None and isinstance(inside.value, dict):
                Fields(node, "lifecycle", self._file, self._report, accepted=frozenset({key}))
                fields = self._fields(inside, "lifecycle")
                return fields, fields.text("name", required=True)
        fields = self._fields(node, "lifecycle")
        given = [key for key in (*ROOTS, "name") if key in fields]
        return fields, fields.text(given[0]) if given else ""

    def _fields(self, node: Node, kind: str) -> Fields:
        return Fields(node, kind, self._file, self._report, accepted=frozenset(PLACES[kind]))

    # --- states --------------------------------------------------------------------------------------------------

    def _states(self, fields: Fields) -> tuple[State, ...]:
        nodes = fields.mapping("states")
        if not nodes or len(nodes) > MAX_STATES:
            fields.wrong(fields.get("states"), "states", f"expected 1 to {MAX_STATES} states, found {len(nodes)}")
            nodes = dict(list(nodes.items())[:MAX_STATES])
        elsewhere = fields.mapping("requirements")
        self._check_names(fields, "requirements", set(nodes))
        states = [self._state(fields, name, node, elsewhere.get(name)) for name, node in nodes.items()]
        initial = [each.name for each in states if each.is_initial]
        if len(initial) > 1:
            reason = f"{' and '.join(initial)} are both initial"
            fields.wrong(nodes[initial[1]], "initial", reason, "An instance begins in one state.")
        elif not initial and states:
            first = states[0]
            states[0] = State(
                first.name, first.description, True, first.is_terminal, first.timeout_seconds, first.requirements
            )
        return tuple(states)

    def _state(self, outer: Fields, name: str, node: Node, elsewhere: Node | None) -> State:
        self._places["state", name] = Place(node.line, node.column)
        if len(name) > MAX_WORD or not STATE.fullmatch(name):
            outer.wrong(
                node, "name", f"'{name[:80]}' is not the name of a state", "Use letters, digits and underscores."
            )
        fields = self._fields(node if node.value is not None else node.beside({}), "state")
        on_fail = fields.get("on_fail")
        default = read_blocker(on_fail, self._file, self._report) if on_fail is not None else None
        nodes = fields.items("requirements")
        if elsewhere is not None:
            if isinstance(elsewhere.value, list):
                nodes = [*nodes, *elsewhere.value]
            else:
                outer.wrong(elsewhere, "wrong_type", f"expected a list of requirements, found {elsewhere.kind()}")
        hours = fields.get("timeout_hours")
        seconds = fields.duration("timeout")
        if hours is not None:
            seconds = fields.integer("timeout_hours", 1, 1, 1_000_000) * HOUR
        return State(
            name,
            fields.text("description"),
            fields.boolean("initial"),
            fields.boolean("terminal"),
            seconds,
            self._requirements(name, nodes, default),
        )

    def _requirements(self, state: str, nodes: list[Node], default: Blocker | None) -> tuple[Requirement, ...]:
        found: dict[str, Requirement] = {}
        if len(nodes) > MAX_REQUIREMENTS:
            self._add(nodes[MAX_REQUIREMENTS], "requirement.too_many", f"more than {MAX_REQUIREMENTS} requirements", "")
        for node in nodes[:MAX_REQUIREMENTS]:
            requirement = self._requirement(node, default)
            self._places["requirement", state, requirement.key] = Place(node.line, node.column)
            if requirement.key in found:
                hint = "Give one of them an `id` of its own."
                self._add(node, "requirement.duplicate", f"'{requirement.key}' is required twice in '{state}'", hint)
            found.setdefault(requirement.key, requirement)
        return tuple(found.values())

    def _requirement(self, node: Node, default: Blocker | None) -> Requirement:
        guard = self._guards.read(node, REQUIREMENT_KEYS)
        inside = node.value if isinstance(node.value, dict) else {}
        fields = Fields(node, "requirement", self._file, self._report, accepted=frozenset(inside))
        on_fail = fields.get("on_fail")
        blocker = read_blocker(on_fail, self._file, self._report) if on_fail is not None else default
        kind = self._table.find(guard.kind)
        key = fields.text("id") or (kind.key(guard.params) if kind is not None else guard.kind)
        if len(key) > MAX_WORD or ":" in key or not key.isprintable():
            hint = "Use a short word without a colon."
            fields.wrong(node, "name", f"'{key[:80]}' cannot name a requirement", hint)
        type = blocker.type if blocker is not None and blocker.type else kind.blocker if kind is not None else "Custom"
        if len(type) > MAX_WORD or not STATE.fullmatch(type):
            fields.wrong(
                on_fail, "name", f"'{type[:80]}' is not a type of blocker", "Use one word, such as MissingDocument."
            )
        if type == ACTION:
            fields.wrong(on_fail, "name", f"'{ACTION}' is the type of actions", "Use another word.")
        text = fields.text("description") or (blocker.description if blocker is not None else "")
        return Requirement(key, guard, type, text, blocker.resolution if blocker is not None else None)

    # --- transitions ---------------------------------------------------------------------------------------------

    def _transitions(self, fields: Fields, known: set[str], states: dict[str, State]) -> tuple[Transition, ...]:
        found: list[Transition] = []
        for node in fields.items("transitions")[:MAX_TRANSITIONS]:
            inside = self._fields(node, "transition")
            sources = inside.texts("from") or ("",)
            for source in sources:
                self._places["transition", str(len(found))] = Place(node.line, node.column)
                found.append(self._transition(inside, source, known, states))
        return tuple(found)

    def _transition(self, fields: Fields, source: str, known: set[str], states: dict[str, State]) -> Transition:
        target = fields.text("to", required=True)
        for key, state in (("from", source), ("to", target)):
            if state not in known:
                hint = did_you_mean(state, known) or f"States: {', '.join(sorted(known))}."
                fields.wrong(fields.get(key), "unknown_state", f"'{state[:80]}' is not a state", hint)
        mode, after = self._mode(fields, states.get(source))
        guard, needs_requirements = self._guard(fields, mode)
        for key in ("role", "reason", "four_eyes"):
            if key in fields and mode != "manual":
                fields.wrong(
                    fields.get(key), "not_manual", f"'{key}' is given and nobody takes it", "Add `manual: true`."
                )
        reason = fields.get("reason")
        needs_reason = reason is not None and reason.value in ("required", True)
        if reason is not None and reason.value not in ("required", "optional", True, False):
            fields.wrong(reason, "unknown_value", "expected `required` or `optional`")
        return Transition(
            source, target, mode, guard, needs_requirements, after, fields.text("role"), needs_reason,
            fields.boolean("four_eyes"), fields.text("description"),
        )  # fmt: skip

    def _mode(self, fields: Fields, source: State | None) -> tuple[Mode, float | None]:
        is_manual = fields.boolean("manual") or not fields.boolean("auto", True)
        after, is_timeout = fields.duration("after"), fields.boolean("timeout")
        if is_manual and fields.boolean("auto"):
            fields.wrong(fields.get("manual"), "mode", "it is both automatic and manual", "Remove one of the two.")
        if after is None and not is_timeout:
            return ("manual" if is_manual else "auto"), None
        if is_manual:
            fields.wrong(fields.node, "mode", "it is both manual and by time", "Write two transitions.")
        if is_timeout and source is not None and source.timeout_seconds is None:
            hint = f"Give '{source.name}' `timeout_hours`, or write `after`."
            fields.wrong(fields.get("timeout"), "timeout", f"'{source.name}' has no timeout", hint)
        return "time", after if after is not None else source.timeout_seconds if source is not None else None

    def _guard(self, fields: Fields, mode: Mode) -> tuple[Guard | None, bool]:
        node = fields.get("guard")
        if node is None:
            return None, mode == "auto"
        if not isinstance(node.value, str):
            return self._guards.read(node), mode == "auto"
        if node.value in REQUIREMENTS:
            return None, True
        guard = self._named.get(node.value)
        if guard is None:
            words = [*self._named, REQUIREMENTS[0]]
            hint = did_you_mean(node.value, words) or "Declare it under `guards`, or write `guard: requirements`."
            fields.wrong(node, "unknown_guard", f"no guard is named '{node.value[:80]}'", hint)
        return guard, mode == "auto"

    # --- actions and trigger -------------------------------------------------------------------------------------

    def _actions(self, fields: Fields, known: set[str]) -> tuple[Action, ...]:
        self._check_names(fields, "actions", known)
        found: list[Action] = []
        for state, nodes in fields.mapping("actions").items():
            for node in nodes.value if isinstance(nodes.value, list) else []:
                inside = self._fields(node, "action")
                self._places["action", str(len(found))] = Place(node.line, node.column)
                params = {snake(key): each for key, each in inside.data("params").items()}
                verb, name = inside.text("verb", required=True), inside.text("action")
                text, auto = inside.text("description"), inside.boolean("auto")
                if ":" in name or len(name) > MAX_WORD or any(e.key == f"{state}:{name or verb}" for e in found):
                    hint = "Use a short name of its own, without a colon."
                    inside.wrong(node, "name", f"'{(name or verb)[:80]}' cannot name an action of '{state}'", hint)
                found.append(Action(state, name or verb, verb, text, params, auto))
            if not isinstance(nodes.value, list):
                fields.wrong(nodes, "wrong_type", f"expected a list of actions, found {nodes.kind()}")
        return tuple(found)

    def _trigger(self, fields: Fields) -> Trigger | None:
        node = fields.get("trigger")
        if node is None:
            return None
        self._places[("trigger",)] = Place(node.line, node.column)
        inside = self._fields(node, "trigger")
        conditions = [self._condition(each) for each in inside.items("conditions")]
        context = {name: str(field.value) for name, field in inside.mapping("context").items()}
        return Trigger(inside.text("event", required=True), tuple(conditions), inside.text("subject"), context)

    def _condition(self, node: Node) -> Condition:
        fields = self._fields(node, "condition")
        equals = fields.get("equals")
        values = [each.plain() for each in fields.items("in")] if equals is None else [equals.plain()]
        if not values:
            fields.missing("in")
        return Condition(fields.text("field", required=True), tuple(values))

    def _check_names(self, fields: Fields, key: str, known: set[str]) -> None:
        for name, node in fields.mapping(key).items():
            if name not in known:
                fields.wrong(node, "unknown_state", f"'{name[:80]}' is not a state", did_you_mean(name, known))

    def _add(self, node: Node, code: str, reason: str, hint: str) -> None:
        self._report.add((self._file, node.line, node.column), code, node.path, reason, hint)
