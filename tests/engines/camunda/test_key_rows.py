"""Keys of Camunda beside what they stand for: each is written once."""

from __future__ import annotations

from perdure.engines.camunda.key_rows import Frame, KeyRows
from perdure.sources import SystemSources
from perdure.testing import Sandbox


async def test_of_two_jobs_that_come_together_one_is_bound_to_a_frame() -> None:
    async with Sandbox.open("sqlite://") as sandbox:
        keys = KeyRows(sandbox.runtime.store, SystemSources(), "camunda")
        first, second = Frame(SystemSources().new_id(), 7, 1), Frame(SystemSources().new_id(), 8, 1)
        assert [await keys.bind_job("1", first), await keys.bind_job("2", first)] == [True, False]
        assert await keys.bind_job("1", first), "the same job again is the same frame"
        assert not await keys.bind_job("1", second), "and no other one"
        assert await keys.bind_job("2", second), "the one that came second is another's"
