"""A conversation in this terminal with a desk in memory."""

from __future__ import annotations

import asyncio

from perdure.surfaces.cli.consoles import make_console
from perdure.surfaces.repl.loop import converse
from tests.repl.desk import MemoryDesk
from tests.repl.project import knowledge

if __name__ == "__main__":
    asyncio.run(converse(MemoryDesk(), knowledge(), make_console()))
