"""After a kill: the audit passes and every acknowledged result is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from bench import children
from bench.load import Load, Sample


def after_kill(load: Load, seconds: float) -> Sample:
    """The audit's verdict, how many acknowledged results were looked up, and how many are missing."""
    audit = _audit(load.url, seconds)
    recheck = msgspec.structs.replace(load, workload="acknowledged", until_killed=False)
    found = children.run(recheck, seconds)
    return {"audit": audit, **found}


def _audit(url: str, seconds: float) -> Sample:
    command = [sys.executable, "-m", "perdure.surfaces.cli", "audit", "verify", "--store", url, "--json"]
    env = children.environment()
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=env, check=False)
    return {"passed": done.returncode == 0, "said": (done.stdout or done.stderr)[-500:]}


def acknowledged_ids(path: str) -> list[str]:
    """The ids the child wrote; a line cut off by the kill was never acknowledged to anyone."""
    text = Path(path).read_bytes().rstrip(b"\0").decode()
    whole, _, _ = text.rpartition("\n")
    return whole.split("\n") if whole else []
