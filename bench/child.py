"""The child process: one contender, one workload, a fresh interpreter; its sample is the last line of stdout."""

from __future__ import annotations

import gc
import importlib
import os
import sys

import msgspec

from bench.load import Load

MODULES = {
    "raw": "raw",
    "dbos": "dbos_",
    "langgraph": "langgraph_",
    "perdure": "perdure_",
    "spiff-every": "spiff",
    "spiff-task": "spiff",
    "spiff-wait": "spiff",
    "spiff-memory": "spiff",
    "bpmn-engine-task": "bpmn_engine",
    "bpmn-engine-wait": "bpmn_engine",
    "bpmn-engine-memory": "bpmn_engine",
}
PROCESSES = frozenset({"process", "loop", "crowd", "crowded"})
"""Workloads of our own that are measured beside those of calls; what they acknowledged is looked up there as well."""
PAPERS = frozenset({"papers", "awaited"})
"""Likewise of documents and lifecycles."""


def main() -> None:
    """Run the load given as JSON in the only argument."""
    load = msgspec.json.decode(sys.argv[1], type=Load)
    contender = importlib.import_module(f"bench.contenders.{_module(load)}")
    _settle_memory()
    sample = getattr(contender, load.workload)(load)
    print(msgspec.json.encode(sample).decode(), flush=True)
    # Threads of a contender that outlive its work must not hold the run up.
    os._exit(0)


def _settle_memory() -> None:
    """What is loaded stays, and collections need not look at it again: as `perdure worker` does, for everyone alike."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _module(load: Load) -> str:
    if "onboarding" in (load.workload, load.mode):
        return {"perdure": "perdure_runbooks", "dbos": "dbos_onboarding"}[load.contender]
    if load.workload in PAPERS or (load.workload == "acknowledged" and load.mode in PAPERS):
        return "perdure_papers"
    is_process = load.workload in PROCESSES or (load.workload == "acknowledged" and load.mode in PROCESSES)
    return "perdure_processes" if load.contender == "perdure" and is_process else MODULES[load.contender]


if __name__ == "__main__":
    main()
