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


class Run(msgspec.Struct, frozen=True):
    """When something was measured, how large, on how busy a machine, and what."""

    at: str
    scale: str
    load: str
    what: list[str]


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured in one run."""

    scale: str
    machine: dict[str, str]
    records: list[Record]
    parked: list[dict[str, Any]]
    workers: list[dict[str, Any]] = []
    loops: list[dict[str, Any]] = []
    crowds: list[dict[str, Any]] = []
    servings: list[dict[str, Any]] = []
    papers: list[dict[str, Any]] = []
    doors: list[dict[str, Any]] = []
    runs: list[Run] = []
    note: str = ""
    """What a person says about how the figures came about."""


LISTS = {
    "parked": "parked", "loop": "loops", "crowd": "crowds", "serving": "servings", "papers": "papers", "doors": "doors",
}  # fmt: skip
"""Measurements that are no workload, by the name they are asked for, and where they are kept."""


def measured(records: list[Record], only: str | None) -> list[str]:
    """The names of what a run measured."""
    others = [name for name in (*LISTS, "workers") if only in (None, name)]
    return [*dict.fromkeys(record.workload for record in records), *others]


def merged(old: Results, new: Results) -> Results:
    """The old results with everything that was measured again in its place; each run keeps what is still its own."""
    again = {(record.workload, record.store) for record in new.records}
    kept = [record for record in old.records if (record.workload, record.store) not in again]
    lists = {field: _replaced(getattr(old, field), getattr(new, field)) for field in LISTS.values()}
    return msgspec.structs.replace(
        old, machine={**new.machine, **old.machine}, records=[*kept, *new.records], workers=new.workers or old.workers,
        runs=_runs(old, new), scale=old.scale if old.scale == new.scale else "mixed", **lists,
    )  # fmt: skip


def _runs(old: Results, new: Results) -> list[Run]:
    """Who measured what is shown now; results from before runs were noted count as one."""
    names = {name for run in new.runs for name in run.what}
    known = [*dict.fromkeys(record.workload for record in old.records)]
    known += [name for name, field in LISTS.items() if getattr(old, field)] + (["workers"] if old.workers else [])
    first = Run("before", old.scale, old.machine.get("load average when started", ""), known)
    earlier = [
        msgspec.structs.replace(run, what=[each for each in run.what if each not in names])
        for run in old.runs or [first]
    ]
    return [*(run for run in earlier if run.what), *new.runs]


def _replaced(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    stores = {each["store"] for each in new}
    return [*(each for each in old if each["store"] not in stores), *new]


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
