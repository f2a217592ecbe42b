"""A real server on SQLite and on Postgres, and a real Chromium, for tests of the dashboard.

A module that names `PROJECT` (a folder with a perdure.yaml) or `SETTINGS` (more of that file) is served that instead
of the KYC example.
"""

from __future__ import annotations

import os
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, expect, sync_playwright

from perdure.testing.services import PostgresService, ServiceUnavailable
from tests.acceptance.browser.looking import Eyes
from tests.acceptance.browser.serving import KYC, Server
from tests.conftest import unavailable
from tests.house.tree import ROOT

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_MS = 30_000
"""How long what is expected may take to show; other tests run beside this one."""


@pytest.fixture(scope="session")
def dashboard() -> Path:
    """The dashboard as it is built from the sources here."""
    built = runpy.run_path(str(ROOT / "dashboard" / "build.py"))
    built["build"]()
    static: Path = built["STATIC"]
    return static


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of one module. Async tests cannot run beside it, so it ends with the module."""
    named = os.environ.get("PERDURE_TEST_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=named, args=["--no-sandbox", "--disable-gpu"])
        except Error as error:
            unavailable(f"no Chromium could be started: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store_kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture(scope="module")
def server(
    request: pytest.FixtureRequest, store_kind: str, tmp_path_factory: pytest.TempPathFactory, dashboard: Path
) -> Iterator[Server]:
    """A server of its own for the tests of one module, on each kind of store."""
    folder = tmp_path_factory.mktemp("served")
    project = getattr(request.module, "PROJECT", KYC)
    settings = getattr(request.module, "SETTINGS", "")
    if store_kind == "sqlite":
        made = Server(project, folder / "project", f"sqlite:///{folder / 'store.db'}", settings)
        yield made
        made.close()
        return
    service: PostgresService = request.getfixturevalue("postgres_server")
    try:
        url = service.create_database()
    except ServiceUnavailable as error:
        unavailable(str(error))
    made = Server(project, folder / "project", url, settings)
    yield made
    made.close()
    service.drop_database(url)


@pytest.fixture
def eyes(chromium: Browser, server: Server, store_kind: str) -> Iterator[Eyes]:
    """Opens pages, takes pictures, and fails the test when a page broke."""
    looking = Eyes(chromium, server, store_kind)
    yield looking
    faults: list[Any] = looking.close()
    assert not faults, "\n".join(map(str, faults))
