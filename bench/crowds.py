"""Many deployed definitions and parked instances against few: what a start and a message take among them."""

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
        found["few"] = _one(store, stores, scale, folder, scale.crowd_few)
        found["many"] = _one(store, stores, scale, folder, scale.crowd_many)
        found |= compared(found["few"], found["many"])
    except children.ChildFailed as failure:
        found["failure"] = str(failure)
    print(f"crowd {store}: {_said(found)}", file=sys.stderr, flush=True)
    return found


def compared(few: dict[str, Any], many: dict[str, Any]) -> dict[str, Any]:
    return {f"{what}_ratio": many[what]["p50_ms"] / few[what]["p50_ms"] for what in ("start", "message")}


def _one(store: Store, stores: FreshStores, scale: Scale, folder: Path, size: tuple[int, int]) -> dict[str, Any]:
    definitions, count = size
    path = folder / "acknowledged-crowd"
    path.unlink(missing_ok=True)
    url = stores.create()
    filling = Load(
        contender="perdure", workload="crowd", store=store, url=url, concurrency=AT_ONCE, count=count,
        definitions=definitions, acknowledged=str(path),
    )  # fmt: skip
    among = msgspec.structs.replace(
        filling, workload="crowded", mode="crowded", concurrency=1, count=min(500, count // 2)
    )
    try:
        children.run(filling, scale.child_seconds)
        sample = children.run_and_kill(among, stores, scale.child_seconds)
        kept = verify.after_kill(among, scale.child_seconds)
        return {"definitions": definitions, "count": count, **sample, "verification": kept}
    finally:
        stores.drop(url)


def _said(found: dict[str, Any]) -> str:
    if "failure" in found:
        return f"failed: {found['failure'].strip().splitlines()[-1][:160]}"
    many = found["many"]
    return (
        f"{many['definitions']} definitions and {many['count']:,} parked instances, "
        f"start x{found['start_ratio']:.2f}, message x{found['message_ratio']:.2f}"
    )
