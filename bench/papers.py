"""Many documents and waiting cases against few: how long a verified document takes to move its case, and a search."""

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
    """Both sizes; a failure is kept beside what was measured before it."""
    found: dict[str, Any] = {"store": store}
    try:
        found["few"] = _one(store, stores, scale, folder, scale.cases_few)
        found["many"] = _one(store, stores, scale, folder, scale.cases_many)
        found |= compared(found["few"], found["many"])
    except children.ChildFailed as failure:
        found["failure"] = str(failure)
    print(f"papers {store}: {_said(found)}", file=sys.stderr, flush=True)
    return found


def compared(few: dict[str, Any], many: dict[str, Any]) -> dict[str, Any]:
    return {
        "move_ms": many["move"]["p50_ms"],
        "move_ratio": many["move"]["p50_ms"] / few["move"]["p50_ms"],
        "search_ms": many["search"]["p95_ms"],
    }


def _one(store: Store, stores: FreshStores, scale: Scale, folder: Path, count: int) -> dict[str, Any]:
    path = folder / "acknowledged-papers"
    path.unlink(missing_ok=True)
    url = stores.create()
    filling = Load(
        contender="perdure", workload="papers", store=store, url=url, concurrency=AT_ONCE, count=count,
        acknowledged=str(path),
    )  # fmt: skip
    among = msgspec.structs.replace(filling, workload="awaited", mode="awaited", concurrency=1, count=200)
    try:
        filled = children.run(filling, scale.child_seconds)
        sample = children.run_and_kill(among, stores, scale.child_seconds)
        kept = verify.after_kill(among, scale.child_seconds)
        return {"cases": count, "documents": count * 10, **filled, **sample, "verification": kept}
    finally:
        stores.drop(url)


def _said(found: dict[str, Any]) -> str:
    if "failure" in found:
        return f"failed: {found['failure'].strip().splitlines()[-1][:160]}"
    many = found["many"]
    return (
        f"{many['cases']:,} cases and {many['documents']:,} documents: moved in {found['move_ms']:.1f} ms "
        f"(x{found['move_ratio']:.2f}), search p95 {found['search_ms']:.1f} ms"
    )
