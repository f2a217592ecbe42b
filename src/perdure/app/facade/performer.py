"""Performers: they perform operations of the table, here for the owner of the store or elsewhere on a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec.structs import replace

from perdure.access.principal import Principal
from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import A, Context, Operation, R
from perdure.app.operations.operation_execution import perform

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure

T = TypeVar("T")
MOST = 200
"""Items that are asked for at once."""


class Performer(Protocol):
    """Performs operations on behalf of one principal of one tenant; a server knows the tenant itself."""

    @property
    def tenant(self) -> str: ...

    async def ask(self, operation: Operation[R, A], request: R, *, key: str = "", seen: int | None = None) -> A:
        """Perform an operation; `seen` is the version of the subject that was looked at."""
        ...

    async def ask_for(self, kind: type[T], operation: Operation[R, Any], request: R) -> T:
        """Perform an operation whose request says which kind of answer it gets."""
        ...

    async def wait(self, operation: Operation[R, A], request: R, until: str, timeout_seconds: float | None) -> A:
        """Show a subject once it has come so far, or the time is up."""
        ...


class LocalPerformer:
    """Performs operations in this process for whoever opened the store, who may do everything."""

    def __init__(self, perdure: Perdure) -> None:
        origin = perdure._origin
        self.tenant = origin.tenant
        principal = Principal(origin.tenant, origin.principal, "person", frozenset({"admin"}), origin.groups)
        self._context = Context(perdure, principal, is_owner=True)

    async def ask(self, operation: Operation[R, A], request: R, *, key: str = "", seen: int | None = None) -> A:
        context = self._context
        if key or seen is not None:
            context = replace(context, seen=None if seen is None else frozenset({seen}), idempotency_key=key)
        return await perform(context, operation, request)

    async def ask_for(self, kind: type[T], operation: Operation[R, Any], request: R) -> T:
        answer: T = await perform(self._context, operation, request)
        return answer

    async def wait(self, operation: Operation[R, A], request: R, until: str, timeout_seconds: float | None) -> A:
        return await perform(self._context, operation, replace(request, until=until, timeout_seconds=timeout_seconds))


class Desk:
    """Methods that ask a performer."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer


async def pages(
    performer: Performer, kind: type[T], operation: Operation[R, Any], request: R, limit: int, cursor: str | None = None
) -> AsyncIterator[T]:
    """The items of a list, page by page, as many as are wanted."""
    while limit > 0:
        asked = replace(request, limit=min(limit, MOST), after=cursor)
        page: Page[T] = await performer.ask_for(Page[kind], operation, asked)  # type: ignore[valid-type]
        for item in page.items:
            yield item
        limit -= len(page.items)
        cursor = page.next
        if cursor is None:
            return
