"""A conversation in this terminal with a desk in memory."""

from __future__ import annotations

import asyncio

from perdure.surfaces.cli.console import make_console
from perdure.surfaces.repl.conversation_loop import converse
from tests.surfaces.repl.memory_platform import MemoryDesk
from tests.surfaces.repl.project import knowledge

if __name__ == "__main__":
    asyncio.run(converse(MemoryDesk(), knowledge(), make_console()))
