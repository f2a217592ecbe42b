"""The small firm, ready to be talked with in a pseudo-terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.acceptance.pseudo_terminal import Terminal
from tests.house.tree import ROOT
from tests.repl.project import make_firm


def opened_firm(folder: Path) -> None:
    """The project with its clients."""
    make_firm(folder)


def talking(folder: Path, *words: str, **environment: str) -> Terminal:
    """`perdure repl` in a terminal of its own."""
    return Terminal([sys.executable, "-m", "tests.repl.memory_main"], folder, PYTHONPATH=str(ROOT), **environment)
