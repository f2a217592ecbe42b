"""The Python client: the operations of the platform, asked of a server, for asyncio and for everybody else."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.client.asynchronous.client import AsyncClient as AsyncClient
    from perdure.client.blocking import Client as Client

_HOMES = {
    "AsyncClient": "perdure.client.asynchronous.client",
    "Client": "perdure.client.blocking",
}


def __getattr__(name: str) -> Any:
    """Names are loaded when first used: nobody waits for the half they do not use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure.client' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
