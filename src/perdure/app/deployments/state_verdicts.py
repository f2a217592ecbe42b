"""State verdicts: whether the instances of a parked state could go on under another version, and how it would end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from perdure.app.deployments.parked_groups import Group, awaited, standing
from perdure.app.deployments.process_versions import ProcessVersion
from perdure.app.deployments.views import Impact, StateImpact
from perdure.bpmn.machine.commands import Migrate
from perdure.bpmn.machine.decide import Tried, tried_migration
from perdure.bpmn.machine.element_mapping import proposed_mapping
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.proof.state_keys import Key
from perdure.bpmn.proof.verdict import Bounds, Finding, Verdict
from perdure.cron import next_cron
from perdure.errors import Rejection
from perdure.sources import SECOND, Micros
from perdure.work.computations import effort_of_computation

SECONDS_PER_STATE = 5.0
BYTES = 256 * 1024 * 1024


class Judged(NamedTuple):
    """What was found out about one mapping."""

    verdict: Impact
    mapping: Mapping[str, str] = {}
    reason: str = ""
    element: str = ""
    finding: Finding | None = None
    bound: str = ""
    goes_around: tuple[str, ...] = ()


class Effort:
    """The work that all proofs of one check may take together."""

    def __init__(self, states: int, seconds: float) -> None:
        self._states, self._seconds = states, seconds
        self.now = effort_of_computation()
        self._began = self.now()

    def bounds(self) -> Bounds:
        left = self._seconds - (self.now() - self._began) / SECOND
        return Bounds(self._states, max(0.0, min(SECONDS_PER_STATE, left)), BYTES)


class StateVerdicts:
    """Of the states of one process, all asked about the same target."""

    def __init__(self, target: ProcessVersion, mapping: Mapping[str, str], now: Micros, effort: Effort) -> None:
        self._target, self._mapping, self._now, self._effort = target, dict(mapping), now, effort
        self._proofs: dict[tuple[bytes, Key], Verdict] = {}
        self._proposals: dict[bytes, dict[str, str]] = {}

    def of(self, group: Group, *, refusal: str = "") -> StateImpact:
        """The verdict on a group; `refusal` is why its carrier lets nothing migrate."""
        if group.version.definition.hash == self._target.definition.hash:
            return _view(group, Judged("goes_on"))
        if refusal:
            return _view(group, Judged("stays_pinned", reason=refusal))
        tried = [self._judge(group, mapping) for mapping in self._mappings(group)]
        return _view(group, next((each for each in tried if each.verdict == "migrates"), tried[-1]))

    def _mappings(self, group: Group) -> Iterator[dict[str, str]]:
        """The mapping given, and the one proposed where that says more."""
        hash, used = group.version.definition.hash, _used(group.first)
        given = {old: new for old, new in self._mapping.items() if old in used}
        if hash not in self._proposals:
            self._proposals[hash] = proposed_mapping(group.version.deployed, self._target.deployed)
        proposed = {old: new for old, new in self._proposals[hash].items() if old in used}
        yield given
        if proposed.keys() - given.keys():
            yield {**proposed, **given}

    def _judge(self, group: Group, mapping: dict[str, str]) -> Judged:
        tried = self._tried(group, mapping)
        if isinstance(tried, Rejection):
            return Judged("stays_pinned", mapping, tried.fact, self._gone(group.first, mapping))
        around = tuple(dict.fromkeys(each.name for each in tried.guards))
        after = self._target.states.of(tried.state)
        verdict = self._proof(self._target, after.key, after.state)
        faults = self._introduced(group, mapping, self._target.faults(verdict))
        if faults:
            first = faults[0]
            return Judged("stays_pinned", mapping, first.fact, first.element, first, goes_around=around)
        if verdict.word == "undecided":
            reason = f"whether it ends well from there is not decided: the bound of {verdict.bound} was reached"
            return Judged("stays_pinned", mapping, reason, bound=verdict.bound, goes_around=around)
        return Judged("migrates", mapping, goes_around=around)

    def _tried(self, group: Group, mapping: dict[str, str]) -> Tried | Rejection:
        old, new = group.version.definition, self._target.definition
        command = Migrate(definition=new.hash, version=self._target.number, mapping=mapping)
        plans = {old.hash: old.plan, new.hash: new.plan}
        return tried_migration(plans, group.first, command, self._now, next_cron)

    def _proof(self, version: ProcessVersion, key: Key, state: Instance) -> Verdict:
        place = version.definition.hash, key
        if place not in self._proofs:
            self._proofs[place] = version.verdict(state, self._effort.bounds(), self._effort.now)
        return self._proofs[place]

    def _introduced(self, group: Group, mapping: dict[str, str], faults: list[Finding]) -> list[Finding]:
        """Those that could not happen under the version the instances are on."""
        if not faults:
            return []
        before = self._proof(group.version, group.parked.key, group.parked.state)
        known = {(each.code, mapping.get(each.element, each.element)) for each in before.findings}
        return [each for each in faults if (each.code, each.element) not in known]

    def _gone(self, state: Instance, mapping: Mapping[str, str]) -> str:
        """The first element with a token that the target does not have."""
        there = self._target.definition.plan.spots
        tokens = (node.element for _, node in sorted(state.nodes.items()) if node.parent)
        return next((each for each in tokens if mapping.get(each, each) not in there), "")


def _used(state: Instance) -> set[str]:
    """The elements and flows that a migration of an instance looks at."""
    found = {watch.event for watch in state.watches.values()}
    for node in state.nodes.values():
        found |= {node.element, *(word for each in node.opened for word in each.split(" "))}
        found |= {node.flow} if node.kind in ("join", "stuck") else set()
        found |= {name for each in node.done for name in (each.element, each.handler)}
    return found


def _view(group: Group, judged: Judged) -> StateImpact:
    finding = judged.finding
    return StateImpact(
        version=group.version.number, instances=group.instances, examples=list(group.ids),
        standing=standing(group.first, group.version.definition), awaited=awaited(group.first),
        flags=dict(sorted(group.parked.flags.items())), is_suspended=group.first.status == "suspended",
        verdict=judged.verdict, mapping=dict(judged.mapping), reason=judged.reason, element=judged.element,
        code=finding.code if finding is not None else "",
        steps=[step.sentence() for step in finding.steps] if finding is not None else [],
        bound=judged.bound, goes_around=list(judged.goes_around),
    )  # fmt: skip
