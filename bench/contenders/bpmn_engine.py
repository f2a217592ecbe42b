"""bpmn-engine (npm), run by Node: its packages are fetched by name and version into a folder of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from bench.load import Durability, Load, Sample, require_durability

HERE = Path(__file__).resolve().parent
PACKAGES = ("bpmn-engine@25.0.1", "node-sqlite3-wasm@0.8.60")
INSTALL_SECONDS = 300


def process(load: Load) -> Sample:
    """Instances one after another, as for the other peer that runs in one thread."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise SystemExit("Not measured: there is no Node with npm on this machine.")
    command = [node, str(HERE / "bpmn_engine.mjs"), str(_packages(npm)), str(HERE.parent / "peers.bpmn")]
    done = subprocess.run(
        [*command, msgspec.json.encode(load).decode()], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"Expected to run bpmn-engine, but Node ended with {done.returncode}.")
    sample: dict[str, Any] = msgspec.json.decode(done.stdout.strip().splitlines()[-1])
    require_durability("sqlite", Durability(**sample.pop("durability")))
    return sample


def _packages(npm: str) -> Path:
    """The folder with the packages; made once and found again by their versions."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "perdure-bench"
    folder = cache / "-".join(PACKAGES).replace("@", "-")
    if not (folder / "installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}\n", encoding="utf-8")
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
        done = subprocess.run(command, cwd=folder, timeout=INSTALL_SECONDS, check=False, stdout=sys.stderr)
        if done.returncode:
            raise SystemExit("Not measured: npm could not fetch the packages.")
        (folder / "installed").touch()
    return folder
