"""A great many parked calls against a thousand: memory, restart, latency, bytes on disk."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from bench import children, verify
from bench.load import Load, Store
from bench.stores import FreshStores
from bench.workloads import AT_ONCE, Scale


def measure(store: Store, stores: FreshStores, scale: Scale, folder: Path) -> dict[str, Any]:
    """Both sizes and an empty store; a failure is kept beside what was measured before it."""
    many = scale.parked_sqlite if store == "sqlite" else scale.parked_postgres
    found: dict[str, Any] = {"store": store, "many_count": many, "few_count": scale.parked_few}
    try:
        found["empty_bytes"] = _empty_bytes(store, stores, scale, folder)
        found["few"] = _one_size(store, stores, scale, folder, scale.parked_few)
        found["many"] = _one_size(store, stores, scale, folder, many)
        found |= _compared(found)
    except children.ChildFailed as failure:
        found["failure"] = str(failure)
    print(f"parked {store}: {_said(found)}", file=sys.stderr, flush=True)
    return found


def _empty_bytes(store: Store, stores: FreshStores, scale: Scale, folder: Path) -> int:
    url = stores.create()
    try:
        children.run(_load(store, url, "park", 0, folder), scale.child_seconds)
        return stores.size(url)
    finally:
        stores.drop(url)


def _one_size(store: Store, stores: FreshStores, scale: Scale, folder: Path, count: int) -> dict[str, Any]:
    url = stores.create()
    try:
        parking = children.run(_load(store, url, "park", count, folder), scale.child_seconds)
        size = stores.size(url)
        load = _load(store, url, "ready", min(500, count // 2), folder)
        Path(load.acknowledged or "").unlink(missing_ok=True)
        ready = children.run_and_kill(load, stores, scale.child_seconds)
        kept = verify.after_kill(msgspec.structs.replace(load, mode="signals"), scale.child_seconds)
        return {"count": count, "bytes": size, "parking": parking, "ready": ready, "verification": kept}
    finally:
        stores.drop(url)


def _load(store: Store, url: str, workload: str, count: int, folder: Path) -> Load:
    concurrency = AT_ONCE if workload == "park" else 1
    return Load(
        contender="perdure",
        workload=workload,
        store=store,
        url=url,
        concurrency=concurrency,
        count=count,
        acknowledged=str(folder / "acknowledged-parked"),
    )


def _compared(found: dict[str, Any]) -> dict[str, Any]:
    few, many = found["few"], found["many"]
    resident = {
        name: max(size["parking"]["resident_bytes"], size["ready"]["resident_bytes"])
        for name, size in (("few", few), ("many", many))
    }
    return {
        "memory_more_mb": (resident["many"] - resident["few"]) / 2**20,
        "ready_seconds": many["ready"]["ready_seconds"],
        "latency_ratio": many["ready"]["p50_ms"] / few["ready"]["p50_ms"],
        "bytes_per_parked": (many["bytes"] - found["empty_bytes"]) / many["count"],
    }


def _said(found: dict[str, Any]) -> str:
    if "failure" in found:
        return f"failed: {found['failure'].strip().splitlines()[-1][:160]}"
    return (
        f"{found['many_count']:,} parked, {found['memory_more_mb']:.1f} MB more than with {found['few_count']:,}, "
        f"ready in {found['ready_seconds']:.2f} s, latency x{found['latency_ratio']:.2f}, "
        f"{found['bytes_per_parked']:.0f} bytes each"
    )
