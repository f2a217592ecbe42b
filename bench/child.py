"""The child process: one contender, one workload, a fresh interpreter; its sample is the last line of stdout."""

from __future__ import annotations

import importlib
import os
import sys

import msgspec

from bench.load import Load

MODULES = {"raw": "raw", "dbos": "dbos_", "langgraph": "langgraph_", "perdure": "perdure_"}


def main() -> None:
    """Run the load given as JSON in the only argument."""
    load = msgspec.json.decode(sys.argv[1], type=Load)
    contender = importlib.import_module(f"bench.contenders.{MODULES[load.contender]}")
    sample = getattr(contender, load.workload)(load)
    print(msgspec.json.encode(sample).decode(), flush=True)
    # Threads of a contender that outlive its work must not hold the run up.
    os._exit(0)


if __name__ == "__main__":
    main()
