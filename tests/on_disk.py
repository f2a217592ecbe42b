"""For suites of durability and of the schema: stores on disk, and databases in which nothing is yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.testing.postgres_service import PostgresService


@pytest.fixture(scope="session")
def postgres_server(postgres_on_disk: PostgresService) -> PostgresService:
    """The session's Postgres on disk; may be restarted and killed, `start()` brings it back."""
    return postgres_on_disk


@pytest.fixture(scope="session")
def postgres_template() -> str:
    """The name of the database with nothing in it."""
    return "template1"


@pytest.fixture
def store_folder(tmp_path: Path) -> Path:
    """Where SQLite's files lie: on disk."""
    return tmp_path
