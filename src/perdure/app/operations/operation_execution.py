"""The execution of an operation: check role, verb scope and version, run its function, redact its answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar, assert_never

from msgspec.structs import replace

from perdure.access.roles import check
from perdure.app.access.redaction import redacted
from perdure.app.operations.operation import (
    ANY_VERSION,
    Context,
    Discovered,
    Operation,
    Reached,
    Redacted,
    Request,
    Unscoped,
)
from perdure.errors import StaleError
from perdure.sources import parse_id

R = TypeVar("R", bound=Request)
A = TypeVar("A")


async def perform(context: Context, operation: Operation[R, A], request: R) -> A:
    """Do what is asked on behalf of a principal, or refuse it before anything is decided."""
    principal, name, scope = context.principal, operation.name, operation.scope
    check(principal, name)
    match scope:
        case Reached():
            if context.is_narrow:
                context.check_all(name, await scope.verbs(context, request))
        case Unscoped() | Redacted() | Discovered():
            pass
        case _:
            assert_never(scope)
    if operation.guard and context.seen is not None:
        async with _unchanged(context, str(getattr(request, "id"))) as sequence:  # noqa: B009  guarded requests have it
            answer = await operation.function(replace(context, sequence=sequence), request)
    else:
        answer = await operation.function(context, request)
    return await redacted(context.perdure.data_verbs, principal, answer) if context.is_narrow else answer


@asynccontextmanager
async def _unchanged(context: Context, id: str) -> AsyncIterator[int]:
    """Hold others off while the subject is acted on in the version that was looked at."""
    runtime = context.perdure.runtime
    async with runtime.guards.of(id):
        aggregate = await runtime.kernel.read(parse_id(id), context.perdure._origin)
        if context.seen is not None and context.seen.isdisjoint((ANY_VERSION, aggregate.version)):
            raise StaleError(id, aggregate.version)
        yield aggregate.version
