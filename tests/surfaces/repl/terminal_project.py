"""The small firm on a real store, ready to be talked with in a pseudo-terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from perdure import Perdure
from tests.acceptance.pseudo_terminal import Terminal
from tests.house.tree import ROOT
from tests.surfaces.repl.project import CLIENTS, catalogue, make_firm


def opened_firm(folder: Path) -> None:
    """The project with its clients."""
    make_firm(folder)
    asyncio.run(_registered(f"sqlite:///{folder / 'firm.db'}", folder / "seal.key"))


async def _registered(url: str, key: Path) -> None:
    async with Perdure.open(url, definitions=catalogue(), role="caller", seal_key_file=key) as perdure:
        for lei, name, country in CLIENTS:
            await perdure.call("client.register", {"lei": lei, "name": name, "country": country})


def talking(folder: Path, *words: str, term: str = "xterm-256color") -> Terminal:
    """`perdure repl` in a terminal of its own."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return Terminal([sys.executable, "-m", "perdure", "repl", *words], folder, term, PYTHONPATH=path)
