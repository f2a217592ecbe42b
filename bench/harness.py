"""Runs every workload in interleaved rounds, each contender in a child process of its own."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from bench import children, crowds, doors, loops, papers, parked, serving, verify, workers
from bench.load import Load, Sample, Store
from bench.machine import facts
from bench.results import Record, Results, Run, measured
from bench.stores import FreshStores
from bench.workloads import WORKLOADS, Scale, Workload, loads


class Bench(msgspec.Struct, frozen=True):
    """Where and how large: what every run needs to know."""

    scale: Scale
    stores: Mapping[Store, FreshStores]
    folder: Path


def measure(bench: Bench, scale_name: str, only: str | None) -> Results:
    """All rounds of the chosen workloads on all given stores; a child that fails is recorded, the run goes on."""
    machine = facts(bench.stores)
    records: list[Record] = []
    for store, workload in itertools.product(bench.stores, WORKLOADS):
        if only in (None, workload.name):
            records.extend(_workload(bench, workload, store))
    parked_found = []
    if only in (None, "parked"):
        parked_found = [parked.measure(store, bench.stores[store], bench.scale, bench.folder) for store in bench.stores]
    workers_found = []
    if only in (None, "workers") and "postgres" in bench.stores:
        workers_found = workers.measure(bench.stores["postgres"], bench.scale)
    label = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    return Results(
        scale=scale_name, machine=machine, records=records, parked=parked_found, workers=workers_found,
        **_larger(bench, only),
        runs=[Run(label, scale_name, machine["load average when started"], measured(records, only))],
    )  # fmt: skip


def _larger(bench: Bench, only: str | None) -> dict[str, list[dict[str, Any]]]:
    """Long loops; starts and messages among many; the server against the Python API; documents that cases wait for."""

    def on_each(name: str, measure: Any) -> list[dict[str, Any]]:
        wanted = bench.stores.items() if only in (None, name) else ()
        return [measure(store, stores, bench.scale, bench.folder) for store, stores in wanted]

    return {
        "loops": on_each("loop", loops.measure), "crowds": on_each("crowd", crowds.measure),
        "servings": on_each("serving", serving.measure), "papers": on_each("papers", papers.measure),
        "doors": on_each("doors", doors.measure),
    }  # fmt: skip


def _workload(bench: Bench, workload: Workload, store: Store) -> Iterator[Record]:
    """The first round tries every setting of a contender; the others repeat the one that was best for it."""
    best: dict[str, Load] = {}
    for number in range(bench.scale.rounds):
        # Every round starts with another contender, so that none always follows the same one.
        entered = workload.entered(store)
        shift = number % len(entered)
        for contender in entered[shift:] + entered[:shift]:
            tried: list[tuple[Load, Record]] = []
            known = best.get(contender)
            for load in [known] if known is not None else loads(workload, contender, store, bench.scale):
                record = _run(bench, workload, load, number)
                _progress(record, workload)
                tried.append((load, record))
                yield record
            _remember_best(best, contender, workload, tried)


def _remember_best(best: dict[str, Load], contender: str, workload: Workload, tried: list[tuple[Load, Record]]) -> None:
    measured = [(record.sample[workload.metric], load) for load, record in tried if record.sample is not None]
    if contender not in best and measured:
        pick = max if workload.better == "higher" else min
        best[contender] = pick(measured, key=lambda each: each[0])[1]


def _run(bench: Bench, workload: Workload, load: Load, number: int) -> Record:
    stores = bench.stores[load.store]
    load = msgspec.structs.replace(load, url=stores.create())
    setting = " ".join(part for part in (load.mode, f"at {load.concurrency}") if part)
    record = Record(workload=workload.name, store=load.store, contender=load.contender, setting=setting, round=number)
    try:
        if load.contender == "perdure":
            sample, verification = _own(bench, load)
            return msgspec.structs.replace(record, sample=sample, verification=verification)
        return msgspec.structs.replace(record, sample=children.run(load, bench.scale.child_seconds))
    except children.ChildFailed as failure:
        return msgspec.structs.replace(record, failure=str(failure))
    finally:
        stores.drop(load.url)


def _own(bench: Bench, load: Load) -> tuple[Sample, Sample]:
    """Ours is killed at the end of every run and must have kept its word."""
    path = bench.folder / "acknowledged"
    path.unlink(missing_ok=True)
    load = msgspec.structs.replace(load, mode=load.workload, acknowledged=str(path))
    sample = children.run_and_kill(load, bench.stores[load.store], bench.scale.child_seconds)
    return sample, verify.after_kill(load, bench.scale.child_seconds)


def _progress(record: Record, workload: Workload) -> None:
    if record.sample is None:
        said = f"failed: {(record.failure or '').strip().splitlines()[-1][:160]}"
    else:
        said = f"{record.sample[workload.metric]:,.1f} {workload.unit}"
    if record.verification is not None:
        said += f"; {_after_kill(record.verification)}"
    where = f"{workload.name} {record.store} round {record.round + 1}"
    print(f"{where}: {record.contender} {record.setting}: {said}", file=sys.stderr, flush=True)


def _after_kill(found: Sample) -> str:
    audit = found["audit"]
    said = "audit passed" if audit["passed"] else f"AUDIT DID NOT PASS ({audit['said'].strip()[-120:]})"
    return f"{found['missing']} of {found['checked']} results lost, {said}"
