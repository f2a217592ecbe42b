"""Several worker processes on one Postgres: what they do together against what one does alone."""

from __future__ import annotations

import sys
from typing import Any

from bench import children
from bench.load import Load
from bench.stores import FreshStores
from bench.workloads import Scale

COUNTS = (1, 2, 3)
AT_ONCE_EACH = 32


def measure(stores: FreshStores, scale: Scale) -> list[dict[str, Any]]:
    """Steps per second of one, two and three processes at once; each has a lease and a connection of its own.

    Everyone goes on working until all have been measured, so that none is measured alone.
    """
    found = [_together(stores, scale, count) for count in COUNTS]
    for each in found:
        print(f"workers postgres: {each}", file=sys.stderr, flush=True)
    return found


def _together(stores: FreshStores, scale: Scale, count: int) -> dict[str, Any]:
    url = stores.create()
    load = Load(
        contender="perdure", workload="steps", store="postgres", url=url, concurrency=AT_ONCE_EACH,
        count=1_000_000, seconds=3 * scale.seconds, until_killed=True,
    )  # fmt: skip
    started = [children.start(load) for _ in range(count)]
    try:
        samples = [children.read_sample(child, scale.child_seconds) for child in started]
        return {"workers": count, "steps_per_second": sum(sample["steps_per_second"] for sample in samples)}
    except children.ChildFailed as failure:
        return {"workers": count, "failure": str(failure)}
    finally:
        for child in started:
            children.close(child)
        stores.drop(url)
