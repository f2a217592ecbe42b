"""Commands of one aggregate fold into one unit: what one of them does wrong is its own affair."""

from __future__ import annotations

import asyncio

import pytest

from perdure.errors import SchemaViolationError
from tests.runbooks.test_calls import opened


@pytest.mark.req("X7")
async def test_a_completion_that_does_not_fit_never_refuses_those_that_arrive_with_it(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        wrong, right, said = await asyncio.gather(
            sandbox.complete(view.id, {"case": 1}, message_id="wrong"),
            sandbox.complete(view.id, {"case_id": "c"}, message_id="right"),
            sandbox.progress(view.id, "on its way"),
            return_exceptions=True,
        )
        assert isinstance(wrong, SchemaViolationError)
        assert not isinstance(right, BaseException) and right.answer == "applied"
        assert not isinstance(said, SchemaViolationError)
        assert (await sandbox.status(view.id)).result == {"case_id": "c"}
