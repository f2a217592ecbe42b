"""A process that goes in circles: a long loop against a short one, per round."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench import children, verify
from bench.load import Load, Store
from bench.stores import FreshStores
from bench.workloads import Scale


def measure(store: Store, stores: FreshStores, scale: Scale, folder: Path) -> dict[str, Any]:
    """Both lengths, each in a process and a store of its own; a failure is kept beside what was measured before it."""
    found: dict[str, Any] = {"store": store}
    try:
        found["few"] = _one(store, stores, scale, folder, scale.rounds_few)
        found["many"] = _one(store, stores, scale, folder, scale.rounds_many)
        found |= compared(found["few"], found["many"])
    except children.ChildFailed as failure:
        found["failure"] = str(failure)
    print(f"loop {store}: {_said(found)}", file=sys.stderr, flush=True)
    return found


def compared(few: dict[str, Any], many: dict[str, Any]) -> dict[str, Any]:
    return {
        "time_ratio": many["ms_per_round"] / few["ms_per_round"],
        "cpu_ratio": many["cpu_ms_per_round"] / few["cpu_ms_per_round"],
        "state_ratio": many["state_bytes"] / few["state_bytes"],
        "memory_more_mb": (many["resident_more_bytes"] - few["resident_more_bytes"]) / 2**20,
    }


def _one(store: Store, stores: FreshStores, scale: Scale, folder: Path, count: int) -> dict[str, Any]:
    path = folder / "acknowledged-loop"
    path.unlink(missing_ok=True)
    url = stores.create()
    load = Load(
        contender="perdure", workload="loop", store=store, url=url, count=count, mode="loop", acknowledged=str(path)
    )
    try:
        sample = children.run_and_kill(load, stores, scale.child_seconds)
        return {**sample, "verification": verify.after_kill(load, scale.child_seconds)}
    finally:
        stores.drop(url)


def _said(found: dict[str, Any]) -> str:
    if "failure" in found:
        return f"failed: {found['failure'].strip().splitlines()[-1][:160]}"
    return (
        f"{found['many']['rounds']:,} rounds at {found['many']['ms_per_round']:.2f} ms, x{found['time_ratio']:.2f} of "
        f"{found['few']['rounds']:,}, state x{found['state_ratio']:.2f}, {found['memory_more_mb']:.1f} MB more"
    )
