"""The file under a living process is moved, removed or replaced: nothing is acknowledged that would be lost."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from perdure import Perdure
from perdure.errors import RejectedError, StoreUnavailableError
from tests.conformance.stores import Raw
from tests.durability.platform import PATH_PREFIX, opened, sqlite_driver
from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]


def file_of(url: str) -> Path:
    return Path(url.removeprefix(PATH_PREFIX))


def move(file: Path) -> str:
    file.rename(file.with_name("elsewhere.db"))
    return f"its file was moved to '{file.with_name('elsewhere.db')}'"


def remove(file: Path) -> str:
    file.unlink()
    return "its file was removed"


def replace(file: Path) -> str:
    kept = file.with_name("kept.db")
    file.rename(kept)
    shutil.copy(kept, file)
    return f"its file was moved to '{kept}'"


@pytest.mark.req("V17")
@pytest.mark.parametrize("change", [move, remove, replace])
async def test_nothing_is_acknowledged_once_the_file_is_not_there(
    change: Callable[[Path], str], sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(sqlite_driver(sqlite_url), role="caller") as perdure:
        before = await perdure.call("t.wait")
        where = change(file_of(sqlite_url))
        with caplog.at_level(logging.ERROR, "perdure"):
            for _ in range(2):
                with pytest.raises(StoreUnavailableError) as caught:
                    await perdure.call("t.wait")
                assert where in str(caught.value)
        assert [where in record.getMessage() for record in caplog.records] == [True]
        with pytest.raises(StoreUnavailableError):
            await perdure.status(before.id)
        with pytest.raises(StoreUnavailableError):
            await perdure.complete(before.id, {})


@pytest.mark.req("V17")
async def test_a_file_that_is_put_back_is_gone_on_with(sqlite_url: str) -> None:
    file = file_of(sqlite_url)
    async with opened(sqlite_driver(sqlite_url), role="caller") as perdure:
        before = await perdure.call("t.wait")
        move(file)
        with pytest.raises(StoreUnavailableError):
            await perdure.call("t.wait")
        file.with_name("elsewhere.db").rename(file)
        assert (await perdure.complete(before.id, {})).answer == "applied"
        assert (await perdure.status(before.id)).state == "completed"


@pytest.mark.req("V17")
async def test_the_heartbeat_of_an_idle_process_sees_that_its_file_is_gone_and_makes_none(sqlite_url: str) -> None:
    file = file_of(sqlite_url)
    async with opened(sqlite_driver(sqlite_url), role="caller") as perdure:
        before = await perdure.call("t.wait")
        extend, close = perdure.runtime.driver.beat()
        move(file)
        with pytest.raises(StoreUnavailableError, match="was moved to"):
            extend(perdure.runtime.lease.number, 1)
        with pytest.raises(StoreUnavailableError, match="was moved to"):
            perdure.runtime.driver.beat()
        with pytest.raises(StoreUnavailableError, match="was moved to"):
            await perdure.status(before.id)
        assert not file.exists()
        file.with_name("elsewhere.db").rename(file)
        close()


@pytest.mark.req("V17")
async def test_a_reader_makes_no_store(store_url: str) -> None:
    with pytest.raises(RejectedError) as caught:
        async with Perdure.open(store_url, role="reader"):
            raise AssertionError("it was opened")
    assert caught.value.rejection.code == "not_found"
    if store_url.startswith(PATH_PREFIX):
        assert not file_of(store_url).exists()
    else:
        with Raw(store_url) as raw:
            assert raw("SELECT 1 FROM pg_tables WHERE schemaname = current_schema()") == []
    async with Perdure.open(store_url, role="caller"):
        pass
    async with Perdure.open(store_url, role="reader") as perdure:
        assert await perdure.parked() == []
