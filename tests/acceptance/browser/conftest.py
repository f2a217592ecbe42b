"""A real Chromium and real servers on SQLite and on Postgres, for tests of the dashboard.

A worker has one browser, and one server for each project, each settings and each kind of store. A module that names
`PROJECT` (a folder with a perdure.yaml) or `SETTINGS` (more of that file) is served that instead of the KYC example; a
module that names `IS_ALONE` has a server of its own.
"""

from __future__ import annotations

import asyncio
import os
import runpy
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from perdure.testing.postgres_service import PostgresService, ServiceUnavailable
from tests.acceptance.browser.server import KYC, Server
from tests.conftest import unavailable
from tests.depth import depth_of
from tests.house.tree import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.acceptance.browser.page_views import Eyes

HERE = Path(__file__).resolve().parent
CHROMIUMS = (
    "chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome",
    "google-chrome-stable",
)  # fmt: skip
"""A shell without windows needs a third of the processor's time."""
PATIENCE_MS = 30_000
"""How long what is expected may take to show; other tests run beside this one."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pages on Postgres are looked at by a deep run, except where a test says that both stores matter."""
    for item in items:
        call = getattr(item, "callspec", None)
        if call is None or HERE not in item.path.parents or call.params.get("store_kind") != "postgres":
            continue
        if item.get_closest_marker("both_stores") is None:
            item.add_marker(pytest.mark.deep)


@pytest.fixture(scope="session")
def dashboard() -> Path:
    """The dashboard as it is built from the sources here."""
    built = runpy.run_path(str(ROOT / "dashboard" / "build.py"))
    built["build"]()
    static: Path = built["STATIC"]
    return static


class Chromium:
    """The browser of a worker; its event loop is out of sight between the tests that use it."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._loop = asyncio._get_running_loop()
        self.rest()

    def wake(self) -> None:
        asyncio._set_running_loop(self._loop)

    def rest(self) -> None:
        """Let async tests have loops of their own: this one stays where it is until it is woken."""
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """A browser for all tests of a worker."""
    from playwright.sync_api import Error, expect, sync_playwright  # noqa: PLC0415  others need no browser

    named = os.environ.get("PERDURE_TEST_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=named, args=["--no-sandbox", "--disable-gpu"])
        except Error as error:
            unavailable(f"no Chromium could be started: {error.message.splitlines()[0]}")
        resting = Chromium(browser)
        yield resting
        resting.wake()
        browser.close()


class Servers:
    """The servers of a worker on one kind of store, each started when it is first asked for."""

    def __init__(self, folders: pytest.TempPathFactory, store: Callable[[Path], str]) -> None:
        self._folders, self._store = folders, store
        self._started: dict[tuple[Path, str, str], Server] = {}

    def of(self, module: ModuleType) -> Server:
        project: Path = getattr(module, "PROJECT", KYC)
        settings: str = getattr(module, "SETTINGS", "")
        named = (project, settings, module.__name__ if getattr(module, "IS_ALONE", False) else "")
        if named not in self._started:
            folder = self._folders.mktemp("served")
            self._started[named] = Server(project, folder / "project", self._store(folder), settings)
        return self._started[named]

    def close(self) -> None:
        for server in self._started.values():
            server.close()


@pytest.fixture(scope="session")
def sqlite_servers(tmp_path_factory: pytest.TempPathFactory, dashboard: Path) -> Iterator[Servers]:
    servers = Servers(tmp_path_factory, lambda folder: f"sqlite:///{folder / 'store.db'}")
    yield servers
    servers.close()


@pytest.fixture(scope="session")
def postgres_servers(
    tmp_path_factory: pytest.TempPathFactory, dashboard: Path, postgres_server: PostgresService
) -> Iterator[Servers]:
    servers = Servers(tmp_path_factory, lambda folder: _database(postgres_server))
    yield servers
    servers.close()


def _database(service: PostgresService) -> str:
    try:
        return service.create_database()
    except ServiceUnavailable as error:
        unavailable(str(error))


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store_kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, store_kind: str) -> Server:
    """The server of what a module is about, on each kind of store."""
    servers: Servers = request.getfixturevalue(f"{store_kind}_servers")
    return servers.of(request.module)


@pytest.fixture
def eyes(request: pytest.FixtureRequest, chromium: Chromium, server: Server, store_kind: str) -> Iterator[Eyes]:
    """Opens pages, takes pictures where a run is deep, and fails the test when a page broke."""
    from tests.acceptance.browser.page_views import Eyes  # noqa: PLC0415  others need no browser

    chromium.wake()
    looking = Eyes(chromium.browser, server, store_kind, takes_pictures=depth_of(request.config) != "normal")
    yield looking
    faults: list[Any] = looking.close()
    chromium.rest()
    assert not faults, "\n".join(map(str, faults))
