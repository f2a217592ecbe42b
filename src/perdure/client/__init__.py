"""The Python client: the operations of the platform, asked of a server, for asyncio and for everybody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.client.asynchronous.client import AsyncClient as AsyncClient
    from perdure.client.blocking_client import Client as Client

# Names are loaded when first used: nobody waits for the half they do not use.
_HOMES = {
    "asynchronous.client": ("AsyncClient",),
    "blocking_client": ("Client",),
}
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
