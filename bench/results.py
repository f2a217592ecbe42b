"""The samples of a run and what is read from them: medians, the best setting of each contender, ratios."""

from __future__ import annotations

import statistics
from typing import Any

import msgspec

from bench.load import Sample, Store
from bench.workloads import Workload


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One child's sample, or why there is none."""

    workload: str
    store: Store
    contender: str
    setting: str
    round: int
    sample: Sample | None = None
    failure: str | None = None
    verification: Sample | None = None


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured in one run."""

    scale: str
    machine: dict[str, str]
    records: list[Record]
    parked: list[dict[str, Any]]
    workers: list[dict[str, Any]] = []


class Figure(msgspec.Struct, frozen=True):
    """A contender's best setting in one workload: the median and each round's value."""

    setting: str
    median: float
    rounds: dict[int, float]


def figure(records: list[Record], workload: Workload, store: Store, contender: str) -> Figure | None:
    """The setting with the best median; none if the contender gave no sample."""
    by_setting: dict[str, dict[int, float]] = {}
    for record in records:
        if (record.workload, record.store, record.contender) == (workload.name, store, contender) and record.sample:
            by_setting.setdefault(record.setting, {})[record.round] = float(record.sample[workload.metric])
    most = max((len(rounds) for rounds in by_setting.values()), default=0)
    figures = [
        Figure(setting, statistics.median(rounds.values()), rounds)
        for setting, rounds in by_setting.items()
        if len(rounds) == most  # settings tried once and not repeated were not the best
    ]
    pick = max if workload.better == "higher" else min
    return pick(figures, key=lambda one: one.median, default=None)


def ratio(ours: Figure | None, other: Figure | None) -> float | None:
    """Median over rounds of ours divided by the other's, each round by itself: noise they share cancels."""
    if ours is None or other is None:
        return None
    shared = ours.rounds.keys() & other.rounds.keys()
    if not shared:
        return None
    return statistics.median(ours.rounds[number] / other.rounds[number] for number in shared)


class Kept(msgspec.Struct, frozen=True):
    """What the kills of our own runs in one workload showed."""

    checked: int
    missing: int
    audits_failed: int

    @property
    def is_whole(self) -> bool:
        return self.checked > 0 and self.missing == 0 and self.audits_failed == 0


def kept(verifications: list[Sample]) -> Kept | None:
    """All verifications taken together; none if no kill was tried."""
    if not verifications:
        return None
    return Kept(
        sum(int(one["checked"]) for one in verifications),
        sum(int(one["missing"]) for one in verifications),
        sum(not one["audit"]["passed"] for one in verifications),
    )


def kept_in(results: Results, workload: str, store: Store) -> Kept | None:
    """What was kept in one workload on one store."""
    return kept(
        [
            record.verification
            for record in results.records
            if record.workload == workload and record.store == store and record.verification is not None
        ]
    )


def worst(records: list[Record], workload: str, store: Store, contender: str, field: str) -> float | None:
    """The largest value of a field over the rounds."""
    values = [
        float(record.sample[field])
        for record in records
        if (record.workload, record.store, record.contender) == (workload, store, contender)
        and record.sample is not None
        and field in record.sample
    ]
    return max(values, default=None)
