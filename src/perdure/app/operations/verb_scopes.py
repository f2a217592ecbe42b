"""Verb scopes: the verbs of a subject that a narrowed key must reach, as `DataVerbs` defines them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perdure.app.operations.operation import Context, Discovered, Reached, Redacted, Unscoped
from perdure.runbooks.executor.plan_executor import step_number


async def _of_id(context: Context, request: Any) -> Iterable[str]:
    return await context.perdure.data_verbs.of_id(request.id)


async def _inside_id(context: Context, request: Any) -> Iterable[str]:
    return await context.perdure.data_verbs.inside_id(request.id)


async def _of_draft(context: Context, request: Any) -> Iterable[str]:
    aggregate = await context.runbook_views.read(request.id)
    return await context.perdure.data_verbs.of_draft(aggregate)


async def _of_instance(context: Context, request: Any) -> Iterable[str]:
    aggregate = await context.runtime.instances.read(request.id, context.origin)
    return await context.perdure.data_verbs.of_instance(aggregate)


async def _of_step(context: Context, request: Any) -> Iterable[str]:
    aggregate = await context.runbook_views.read(request.id)
    return context.perdure.data_verbs.of_step(aggregate, step_number(aggregate, request.step))


async def _of_task(context: Context, request: Any) -> Iterable[str]:
    return await context.perdure.tasks.verbs(request.key)


async def _of_version(context: Context, request: Any) -> Iterable[str]:
    return await context.perdure.processes.verbs(request.process, request.version)


async def _of_process(context: Context, request: Any) -> Iterable[str]:
    return await context.perdure.processes.verbs_of_all(request.process)


async def _named_verb(context: Context, request: Any) -> Iterable[str]:
    return [context.perdure.catalogue.get(request.name, request.version).name]


NO_VERB = Unscoped()
REDACTED = Redacted()
DISCOVERED = Discovered()
EVERY_VERB_OF_ID = Reached(_of_id)
"""The verbs of a call, of every step of a runbook, or of an instance."""
EVERY_VERB_INSIDE = Reached(_inside_id)
"""The same, and the verbs of the instances that carry its steps."""
VERBS_OF_DRAFT = Reached(_of_draft)
VERBS_OF_INSTANCE = Reached(_of_instance)
VERBS_OF_STEP = Reached(_of_step)
VERBS_OF_TASK = Reached(_of_task)
VERBS_OF_VERSION = Reached(_of_version)
VERBS_OF_PROCESS = Reached(_of_process)
NAMED_VERB = Reached(_named_verb)
