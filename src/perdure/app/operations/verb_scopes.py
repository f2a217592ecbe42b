"""Verb scopes: the verbs of a subject that a narrowed key must reach."""

from __future__ import annotations

from typing import Any

from perdure.app.operations.operation import Context, Discovered, Reached, Redacted, Unscoped


async def _every_verb(context: Context, request: Any) -> list[str]:
    return await context.perdure.waits.verbs_of(request.id)


async def _verb_of_instance(context: Context, request: Any) -> list[str]:
    return [await context.perdure.instances.verb(request.id)]


async def _verb_of_step(context: Context, request: Any) -> list[str]:
    return [await context.perdure.runbooks.verb(request.id, request.step)]


async def _verb_of_task(context: Context, request: Any) -> list[str]:
    return [await context.perdure.tasks.verb(request.key)]


async def _verb_of_process(context: Context, request: Any) -> list[str]:
    return [await context.perdure.processes.verb(request.process, request.version)]


async def _named_verb(context: Context, request: Any) -> list[str]:
    return [context.perdure.catalogue.get(request.name, request.version).name]


NO_VERB = Unscoped()
REDACTED = Redacted()
DISCOVERED = Discovered()
EVERY_VERB_OF_ID = Reached(_every_verb)
"""The verbs of a call, of every step of a runbook, or the one an instance carries."""
VERB_OF_INSTANCE = Reached(_verb_of_instance)
VERB_OF_STEP = Reached(_verb_of_step)
VERB_OF_TASK = Reached(_verb_of_task)
VERB_OF_PROCESS = Reached(_verb_of_process)
NAMED_VERB = Reached(_named_verb)
