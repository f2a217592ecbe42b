"""The project the demonstration plays with: the KYC example, from the package or from a clone."""

from __future__ import annotations

import shutil
from pathlib import Path

INSIDE = Path(__file__).parent / "kyc"
CLONE = Path(__file__).parents[3] / "examples" / "kyc"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.db*", "*.key*", "scenarios")


def example() -> Path:
    """Where the example is."""
    return INSIDE if INSIDE.is_dir() else CLONE


def begin(folder: Path, source: Path | None = None) -> None:
    """A copy of the example, to be changed at will; what running it left behind stays where it is."""
    shutil.copytree(source or example(), folder, ignore=LEFT_OUT, dirs_exist_ok=True)
