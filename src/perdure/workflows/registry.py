"""`WorkflowRegistry`: workflows by id and version, what is the latest, and who gets which."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from perdure.workflows.places import caller, refusal
from perdure.workflows.versions import parse_version
from perdure.workflows.workflow import Workflow

LATEST = "latest"
Status = Literal["active", "deprecated", "retired"]
WHOLE = 10_000
"""Into how many parts the business keys of a rollout are split."""


class Arm(NamedTuple):
    """What a rollout chose: the version, and by which rule."""

    version: str
    rule: str


class Rollout(NamedTuple):
    """Who gets which version: segments first, then by weight. The same key always gets the same one."""

    weights: tuple[tuple[str, float], ...] = ()
    segments: tuple[tuple[str, str, str], ...] = ()
    """A variable, its value, and the version for it."""

    def choose(self, workflow: str, key: str, variables: Mapping[str, Any]) -> Arm | None:
        for name, value, version in self.segments:
            if name in variables and str(variables[name]) == value:
                return Arm(version, f"{name}={value}")
        total = sum(weight for _, weight in self.weights)
        if not total:
            return None
        place = _place(workflow, key) / WHOLE * total
        for version, weight in self.weights:
            if place < weight:
                return Arm(version, f"weight {weight:g} of {total:g}")
            place -= weight
        return Arm(self.weights[-1][0], "weight")


class WorkflowRegistry:
    """Several versions of several workflows. `latest` is the highest one that is active."""

    def __init__(self) -> None:
        self._workflows: dict[str, dict[str, Workflow]] = {}
        self._statuses: dict[tuple[str, str], Status] = {}
        self._rollouts: dict[str, Rollout] = {}

    def register(self, workflow: Workflow, status: Status = "active") -> Workflow:
        place = caller()
        known = self._workflows.setdefault(workflow.id, {})
        if known.get(workflow.version, workflow) is not workflow:
            fact = f"version {workflow.version} is registered already"
            raise refusal(place, "version", workflow.id, fact, "Give the workflow another version.")
        known[workflow.version] = workflow
        self._statuses[workflow.id, workflow.version] = status
        return workflow

    def get(self, workflow_id: str, version: str = LATEST) -> Workflow:
        """A version of a workflow; the highest active one unless another is named."""
        place, known = caller(), self._workflows.get(workflow_id, {})
        active = [each for each in known if self.status(workflow_id, each) == "active"]
        if version == LATEST and active:
            return known[max(active, key=parse_version)]
        if version in known:
            return known[version]
        hint = f"Known: {', '.join(sorted(known, key=parse_version)) or ', '.join(self._workflows) or 'none'}."
        fact = "it is not registered" if not known else f"it has no active version '{version}'"
        raise refusal(place, "unknown", workflow_id, fact, hint)

    def list_versions(self, workflow_id: str) -> list[str]:
        """Every version, the lowest first."""
        return sorted(self._workflows.get(workflow_id, ()), key=parse_version)

    def status(self, workflow_id: str, version: str) -> Status:
        return self._statuses.get((workflow_id, version), "active")

    def set_status(self, workflow_id: str, version: str, status: Status) -> None:
        """`deprecated`: begun only when it is named; `retired`: not at all. Running instances go on."""
        self.get(workflow_id, version)
        self._statuses[workflow_id, version] = status

    def rollout(
        self, workflow_id: str, weights: Mapping[str, float] | None = None,
        segments: Mapping[str, Mapping[Any, str]] | None = None,
    ) -> None:  # fmt: skip
        """Who gets which version: `weights` by version, `segments` by a variable and its value.

        A start under one business key gets the same version however often it is asked for.
        """
        place = caller()
        named = [*(weights or {}), *(version for each in (segments or {}).values() for version in each.values())]
        for version in named:
            if version not in self._workflows.get(workflow_id, {}):
                fact = f"there is no version '{version}'"
                raise refusal(place, "rollout", workflow_id, fact, "Register it first.")
        if any(weight < 0 for weight in (weights or {}).values()):
            raise refusal(place, "rollout", workflow_id, "a weight is negative", "Give 0 or more.")
        self._rollouts[workflow_id] = Rollout(
            tuple((weights or {}).items()),
            tuple(
                (name, str(value), version)
                for name, each in (segments or {}).items()
                for value, version in each.items()
            ),
        )  # fmt: skip

    def choose(self, workflow_id: str, key: str, variables: Mapping[str, Any] | None = None) -> Arm:
        """The version for a business key, and the rule that says so; without a rollout the latest."""
        rollout = self._rollouts.get(workflow_id)
        found = rollout.choose(workflow_id, key, variables or {}) if rollout is not None else None
        return found or Arm(self.get(workflow_id).version, LATEST)

    def has_rollout(self, workflow_id: str) -> bool:
        return workflow_id in self._rollouts

    def __iter__(self) -> Iterator[Workflow]:
        for versions in self._workflows.values():
            yield from versions.values()

    def statuses(self) -> Iterator[tuple[str, str, Status]]:
        """What is not active."""
        yield from ((id, version, status) for (id, version), status in self._statuses.items() if status != "active")


def _place(workflow: str, key: str) -> int:
    """Where a key lies between 0 and the whole, the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"{workflow}\0{key}".encode()).digest()[:8], "big") % WHOLE
