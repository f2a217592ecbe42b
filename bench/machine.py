"""Facts about the machine and the versions, so that a reader can judge the figures."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from bench.load import Store
from bench.stores import FreshStores

PACKAGES = (
    "dbos", "langgraph", "langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres", "psycopg", "SpiffWorkflow",
    "perdure",
)  # fmt: skip


def facts(stores: Mapping[Store, FreshStores]) -> dict[str, str]:
    """What the report opens with."""
    found = {
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB",
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        "load average when started": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "python": sys.version.split()[0],
    }
    for name, store in stores.items():
        found[name] = store.version()
    return found | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
