"""A durable verb with its process, through the facade: verbs as YAML, the model as a sketch, handlers as functions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from perdure.testing.sandbox import Sandbox
from perdure.verbs import load_text
from tests.scenarios.sketch import sketches

Handler = Callable[..., Any]


@asynccontextmanager
async def carried(
    url: str, verbs: str, model: str, handlers: dict[str, Handler], *, deploys: bool = True
) -> AsyncIterator[Sandbox]:
    """A sandbox whose store has the process of the sketch."""
    catalogue = load_text(verbs)
    async with Sandbox.open(url, definitions=catalogue, handlers=handlers) as sandbox:
        if deploys:
            await sandbox.processes.deploy_all(list(sketches(model).values()))
        yield sandbox


async def settled(sandbox: Sandbox, verb: str, args: dict[str, Any] | None = None) -> Any:
    """The call once nothing is left to do, an hour of retries later."""
    call = await sandbox.call(verb, args or {})
    await sandbox.run_until_idle()
    await sandbox.advance("PT1H")
    return await sandbox.status(call.id)
