"""Fixtures and hooks all tests share: real stores, the shared folder, async tests, simulation seeds."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import os
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest
from hypothesis import settings

from perdure.testing.camunda_broker import CamundaBroker
from perdure.testing.memory_folder import memory_folder
from perdure.testing.postgres_service import PostgresService, ServiceUnavailable, is_required
from perdure.testing.server_process import free_ports
from tests.depth import add_depth_option, depth_of, run_long_tests_first, select_by_depth

ROOT = Path(__file__).resolve().parent.parent
SERVER_BYTES = 4 << 30
"""How much room a Postgres server may need."""

# The same examples every time, so that a build is red for what changed; PERDURE_FRESH=1 draws new ones.
settings.register_profile("perdure", derandomize=not os.environ.get("PERDURE_FRESH"), deadline=None)
settings.load_profile("perdure")


def unavailable(reason: str) -> NoReturn:
    """Skip, saying why; or fail where services are required."""
    if is_required():
        pytest.fail(f"A required service is missing: {reason}", pytrace=False)
    pytest.skip(f"SERVICE MISSING: {reason}")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresService]:
    """The session's Postgres (one per xdist worker), in memory; suites of durability take the one on disk instead."""
    yield from _running(PostgresService(memory_folder(SERVER_BYTES)))


@pytest.fixture(scope="session")
def postgres_on_disk() -> Iterator[PostgresService]:
    """Another Postgres on disk; may be restarted and killed, `start()` brings it back."""
    yield from _running(PostgresService())


def _running(service: PostgresService) -> Iterator[PostgresService]:
    try:
        service.start()
    except ServiceUnavailable as error:
        unavailable(str(error))
    yield service
    service.stop()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresService) -> str:
    """The name of a database that was opened once, so that its copies need no migration."""
    url = postgres_server.create_database()
    asyncio.run(_open_once(url))
    return urlsplit(url).path.lstrip("/")


async def _open_once(url: str) -> None:
    from perdure.store.driver_selection import open_driver  # noqa: PLC0415  most suites need no store

    driver = open_driver(url)
    await driver.open()
    await driver.close()


@pytest.fixture
def postgres_url(postgres_server: PostgresService, postgres_template: str) -> Iterator[str]:
    """The url of a fresh Postgres database; suites of the schema itself take an empty one."""
    try:
        url = postgres_server.create_database(postgres_template)
    except ServiceUnavailable as error:
        unavailable(str(error))
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def camunda_broker() -> Iterator[CamundaBroker]:
    """The session's Camunda (one per xdist worker); what it writes goes to `exporter_url`, where a test may listen.

    A test may kill it and start it again, and sets its clock back at the end.
    """
    try:
        broker = CamundaBroker(f"http://127.0.0.1:{free_ports(1)[0]}")
        broker.start()
    except ServiceUnavailable as error:
        unavailable(str(error))
    yield broker
    broker.remove()


@pytest.fixture
def store_folder() -> Iterator[Path]:
    """Where SQLite's files lie: in memory if that can be had; suites of durability take the disk instead."""
    with TemporaryDirectory(prefix="perdure-store-", dir=memory_folder()) as folder:
        yield Path(folder)


@pytest.fixture
def sqlite_url(store_folder: Path) -> str:
    """The url of a SQLite file that does not exist yet."""
    return f"sqlite:///{store_folder / 'store.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest) -> str:
    """The url of a fresh store, once for each kind of store."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder beside the repository that holds reference material too large to keep inside."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        unavailable("the reference material beside the repository (../shared) is not here")
    return folder


def pytest_collection_finish() -> None:
    """What was collected lives to the end: no collection of garbage looks through ten thousand tests again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests, plain or under hypothesis, each in its own event loop."""
    test = pyfuncitem.obj
    hypothesis = getattr(test, "hypothesis", None)
    if hypothesis is not None:
        if inspect.iscoroutinefunction(hypothesis.inner_test):
            hypothesis.inner_test = _in_event_loop(hypothesis.inner_test)
        return None
    if not inspect.iscoroutinefunction(test):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    _in_event_loop(test)(**{name: pyfuncitem.funcargs[name] for name in names})
    return True


def _in_event_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(_without_leftovers(test(*arguments, **named)), debug=False)

    return run


async def _without_leftovers(test: Awaitable[None]) -> None:
    await test
    # Tasks that were cancelled or released by the last line of the test get a few turns to end.
    for _ in range(10):
        await asyncio.sleep(0)
    leftovers = asyncio.all_tasks() - {asyncio.current_task()}
    assert not leftovers, f"the test left unfinished tasks: {sorted(map(repr, leftovers))}"


SEEDS = {"normal": "0-29", "deep": "30-299", "all": "0-299"}
"""The seeds of a simulation by depth, unless the command line names others."""
MANY_SEEDS = 30
"""From so many on, the dearer simulations take every fifth; to run more of them, name fewer at a time."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_depth_option(parser)
    parser.addoption(
        "--seeds",
        default=None,
        help="simulation seeds: numbers, ranges and fresh:COUNT, joined by commas (7,100-199,fresh:20)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    select_by_depth(config, items)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        run_long_tests_first(items, workers)


def pytest_configure(config: pytest.Config) -> None:
    # Fresh seeds are drawn once, by the controller: all xdist workers must collect the same tests.
    named = config.option.seeds or SEEDS[depth_of(config)]
    drawn = getattr(config, "workerinput", {}).get("seeds", named)
    config.option.seeds = ",".join(map(str, parse_seeds(drawn)))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["seeds"] = node.config.option.seeds


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `seed` runs once for each seed of the depth."""
    if not {"seed", "instance_seed"} & set(metafunc.fixturenames):
        return
    seeds = parse_seeds(metafunc.config.option.seeds)
    marks = [pytest.mark.deep] if depth_of(metafunc.config) == "deep" else []
    for name, chosen in (("seed", seeds), ("instance_seed", seeds if len(seeds) < MANY_SEEDS else seeds[::5])):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, [pytest.param(seed, marks=marks) for seed in chosen])


def parse_seeds(text: str) -> list[int]:
    """The seeds named by the option, in order, each once."""
    seeds: dict[int, None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        seeds.update(dict.fromkeys(_seeds_of(part)))
    return list(seeds)


def _seeds_of(part: str) -> list[int]:
    try:
        if part.startswith("fresh:"):
            return [random.SystemRandom().randrange(1_000, 2**31) for _ in range(int(part.removeprefix("fresh:")))]
        first, dash, last = part.partition("-")
        return list(range(int(first), int(last) + 1)) if dash else [int(part)]
    except ValueError:
        raise pytest.UsageError(f"--seeds: '{part}' is not a number, a range 0-99 or fresh:20") from None
