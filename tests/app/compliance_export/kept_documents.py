"""Writes the documents kept to be checked by later releases: `python -m tests.app.compliance_export.kept_documents`.

They are written once per format. When one no longer verifies, the telling has changed: that is another format.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from perdure.app.compliance_export.document import FORMAT
from tests.app.compliance_export.exported_store import exporting

FOLDER = Path(__file__).parent / "fixtures"
NUMBER = FORMAT.rpartition("/")[2]


async def keep() -> None:
    async with exporting() as world:
        calls = {"carried": await world.carried(), "escalated": await world.escalated()}
        await world.seal()
        FOLDER.mkdir(exist_ok=True)
        for name, call in calls.items():
            (FOLDER / f"{name}-{NUMBER}.json").write_bytes(await world.export(call.id))
        (FOLDER / f"escalated-{NUMBER}.html").write_bytes(await world.export(calls["escalated"].id, is_page=True))


if __name__ == "__main__":
    asyncio.run(keep())
