"""Runbook scans read lists of runbooks page by page, however long they are."""

from __future__ import annotations

from collections.abc import AsyncIterator

from perdure.runbooks.executor.plan_executor import CASES
from perdure.sources import Id
from perdure.store.lists import AFTER_IDS, LAST, NEWEST, Lists

PAGE = 200


async def walk_plans(lists: Lists, tenant: str, state: str = "", after: Id | None = None) -> AsyncIterator[Id]:
    """Plans and drafts, newest first, in one state or in any; those that follow one of them."""
    before = (await lists.number_of(after) or NEWEST) if after is not None else NEWEST
    while rows := await lists.runbooks(tenant, True, state, before, PAGE):
        for row in rows:
            yield row.id
        before = rows[-1].number


async def walk_case(lists: Lists, tenant: str, case: str, after: Id | None = None) -> AsyncIterator[Id]:
    """The runbooks of a case, newest first; those that follow one of them."""
    before: tuple[str, bytes] = (LAST, AFTER_IDS)
    if after is not None:
        began = [value for verb, field, value in await lists.index_of(after) if (verb, field) == (CASES, case)]
        before = (began[0], after) if began else before
    while rows := await lists.indexed(tenant, CASES, case, "", before, PAGE):
        for row in rows:
            yield row.id
        before = (rows[-1].value, rows[-1].id)
