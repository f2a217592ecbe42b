"""Policies: how long work may take and how often it is tried, by the name that `policyRef` gives.

Seconds are whole or fractional and never stand for a moment, so that a lock is the same wherever it is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.json import format as format_json

from perdure.bpmn.contract.contract import Contract
from perdure.errors import RejectedError, Rejection
from perdure.typed_reading import read_json

LOCK_VERSION = 1


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """`maximum_attempts` includes the first; the interval grows by the coefficient up to the maximum."""

    maximum_attempts: int
    initial_interval_seconds: float
    maximum_interval_seconds: float
    backoff_coefficient: float
    non_retryable_error_types: tuple[str, ...] = ()


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """`schedule_to_close` bounds a piece of work with all its attempts, `start_to_close` one attempt."""

    name: str
    schedule_to_close_seconds: float
    start_to_close_seconds: float
    retry: Retry


class PolicyCatalogue(msgspec.Struct, frozen=True):
    """The policies of one file, each name once."""

    policies: tuple[Policy, ...] = ()
    file: str = ""

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(each.name for each in self.policies))

    def find(self, name: str) -> Policy | None:
        return next((each for each in self.policies if each.name == name), None)

    def get(self, name: str) -> Policy:
        found = self.find(name)
        if found is None:
            hint = f"Policies: {', '.join(self.names()) or 'none'}."
            raise RejectedError(Rejection("not_found", "resolve", "policy", name, "the catalogue has none", hint))
        return found


class PolicyLock(msgspec.Struct, frozen=True):
    """What the policies of a model resolved to: by task the name, by name the values. No moment, no path, no version
    of a tool is in it, so that equal inputs give equal bytes."""

    tasks: dict[str, str]
    policies: tuple[Policy, ...]

    def text(self) -> str:
        """JSON with sorted keys, indented by two, one line feed at the end."""
        content = {"version": LOCK_VERSION, "tasks": self.tasks, "policies": {p.name: values(p) for p in self.policies}}
        ordered = msgspec.json.encode(content, order="sorted")
        return format_json(ordered, indent=2).decode() + "\n"


def lock_of(contract: Contract, catalogue: PolicyCatalogue) -> PolicyLock:
    """Every `policyRef` resolved; refused by the first name that the catalogue lacks."""
    tasks = {id: work.definition.policy for id, work in sorted(contract.work.items())}
    return PolicyLock(tasks, tuple(catalogue.get(name) for name in contract.policies()))


def read_lock(text: str | bytes) -> PolicyLock:
    """What a lock says. Raises msgspec.ValidationError or msgspec.DecodeError for what is none."""
    found = read_json(text, _Written)
    if found.version != LOCK_VERSION:
        raise msgspec.ValidationError(f"the lock is of version {found.version}, and {LOCK_VERSION} is known")
    return PolicyLock(found.tasks, tuple(_policy(name, each) for name, each in sorted(found.policies.items())))


def values(policy: Policy) -> dict[str, Any]:
    """A policy as `policies.yaml` says it; whole seconds are whole numbers."""
    retry = policy.retry
    return {
        "schedule_to_close": _number(policy.schedule_to_close_seconds),
        "start_to_close": _number(policy.start_to_close_seconds),
        "retry": {
            "maximum_attempts": retry.maximum_attempts,
            "initial_interval": _number(retry.initial_interval_seconds),
            "maximum_interval": _number(retry.maximum_interval_seconds),
            "backoff_coefficient": _number(retry.backoff_coefficient),
            "non_retryable_error_types": list(retry.non_retryable_error_types),
        },
    }


def catalogue_of(policies: Iterable[Policy], file: str = "") -> PolicyCatalogue:
    return PolicyCatalogue(tuple(policies), file)


class _WrittenRetry(msgspec.Struct, forbid_unknown_fields=True):
    maximum_attempts: int
    initial_interval: float
    maximum_interval: float
    backoff_coefficient: float
    non_retryable_error_types: tuple[str, ...] = ()


class _WrittenPolicy(msgspec.Struct, forbid_unknown_fields=True):
    schedule_to_close: float
    start_to_close: float
    retry: _WrittenRetry


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    tasks: dict[str, str]
    policies: dict[str, _WrittenPolicy]


def _policy(name: str, written: _WrittenPolicy) -> Policy:
    retry = written.retry
    return Policy(
        name=name,
        schedule_to_close_seconds=written.schedule_to_close,
        start_to_close_seconds=written.start_to_close,
        retry=Retry(
            maximum_attempts=retry.maximum_attempts,
            initial_interval_seconds=retry.initial_interval,
            maximum_interval_seconds=retry.maximum_interval,
            backoff_coefficient=retry.backoff_coefficient,
            non_retryable_error_types=retry.non_retryable_error_types,
        ),
    )


def _number(seconds: float) -> int | float:
    return int(seconds) if float(seconds).is_integer() else seconds
