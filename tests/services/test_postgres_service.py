"""The Postgres that tests run on is real, durable, private to each test and gone afterwards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from perdure.testing import postgres_binaries
from perdure.testing.postgres_server import PostgresServer
from perdure.testing.postgres_service import PostgresService, ServiceUnavailable


@pytest.fixture
def own_server(postgres_server: PostgresService) -> PostgresService:
    if not postgres_server.is_own:
        pytest.skip("the Postgres in use was named from outside and is not ours to stop")
    return postgres_server


@pytest.fixture
def spare_service(own_server: PostgresService) -> Iterator[PostgresService]:
    """A second server, for tests that end it."""
    service = PostgresService()
    yield service
    service.stop()


def test_the_server_is_durable_and_listens_on_loopback_only(own_server: PostgresService) -> None:
    with psycopg.connect(own_server.start()) as connection:
        wanted = ("fsync", "synchronous_commit", "listen_addresses", "unix_socket_directories", "max_connections")
        found = [connection.execute(f"SHOW {name}").fetchone() for name in wanted]
    assert found == [("on",), ("on",), ("127.0.0.1",), ("",), ("200",)]


def test_each_database_starts_empty_and_is_apart_from_the_others(postgres_server: PostgresService) -> None:
    first, second = postgres_server.create_database(), postgres_server.create_database()
    with psycopg.connect(first) as connection:
        connection.execute("CREATE TABLE mark (id int)")
    with psycopg.connect(second) as connection:
        assert connection.execute("SELECT to_regclass('mark')").fetchone() == (None,)
    postgres_server.drop_database(first)
    postgres_server.drop_database(second)


def test_a_database_copies_its_template(postgres_server: PostgresService) -> None:
    template = postgres_server.create_database()
    with psycopg.connect(template) as connection:
        connection.execute("CREATE TABLE mark (id int)")
    copy = postgres_server.create_database(template=urlsplit(template).path.lstrip("/"))
    with psycopg.connect(copy) as connection:
        assert connection.execute("SELECT count(*) FROM mark").fetchone() == (0,)
    postgres_server.drop_database(copy)
    postgres_server.drop_database(template)


def test_a_dropped_database_is_gone_even_while_connected(postgres_server: PostgresService) -> None:
    url = postgres_server.create_database()
    connection = psycopg.connect(url)
    postgres_server.drop_database(url)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


@pytest.mark.parametrize("end", ["fast", "immediate", "kill"])
def test_committed_rows_survive_every_way_of_ending_the_server(own_server: PostgresService, end: str) -> None:
    url = own_server.create_database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE mark (id int)")
        connection.execute("INSERT INTO mark VALUES (7)")
    open_connection = psycopg.connect(url)
    _end(own_server, end)
    with pytest.raises(psycopg.OperationalError):
        open_connection.execute("SELECT 1")
    open_connection.close()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT id FROM mark").fetchall() == [(7,)]
    own_server.drop_database(url)


def _end(service: PostgresService, end: str) -> None:
    if end == "fast":
        service.restart("fast")
    elif end == "immediate":
        service.restart("immediate")
    else:
        service.kill()
        service.start()


def test_a_killed_server_refuses_connections_until_started_again(spare_service: PostgresService) -> None:
    url = spare_service.start()
    spare_service.kill()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    assert spare_service.start() == url
    psycopg.connect(url).close()


def test_a_stopped_service_leaves_neither_process_nor_folder(spare_service: PostgresService) -> None:
    with psycopg.connect(spare_service.start()) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    spare_service.stop()
    assert not Path(row[0]).parent.exists()
    with pytest.raises(ServiceUnavailable):
        spare_service.kill()


ORPHAN = """
import os, psycopg
from perdure.testing.postgres_service import PostgresService
with psycopg.connect(PostgresService().start()) as connection:
    print(connection.execute("SHOW data_directory").fetchone()[0], flush=True)
os._exit(9)
"""


def test_a_server_does_not_outlive_whoever_started_it(own_server: PostgresService) -> None:
    child = subprocess.run([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True, check=False)
    folder = Path(child.stdout.strip()).parent
    assert folder.name.startswith("perdure-postgres-")
    # The watch holds our end of nothing: wait for it by asking until the folder is gone, within the test's timeout.
    while folder.exists():
        subprocess.run([sys.executable, "-c", ""], check=True)


def test_the_wheel_serves_where_the_machine_has_no_server() -> None:
    installation = postgres_binaries.from_wheel()
    if installation is None:
        pytest.skip("the wheel is installed only where the machine has no server of its own")
    server = PostgresServer(installation)
    try:
        server.start()
        psycopg.connect(server.url).close()
    finally:
        server.remove()


def test_without_any_server_the_reason_names_what_would_help(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PERDURE_TEST_POSTGRES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(postgres_binaries, "DEBIAN_FOLDER", tmp_path)
    monkeypatch.setattr(postgres_binaries, "WHEEL", "no_such_wheel")
    with pytest.raises(ServiceUnavailable, match="PERDURE_TEST_POSTGRES"):
        PostgresService().start()


def test_a_named_server_is_used_and_never_killed(
    postgres_server: PostgresService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERDURE_TEST_POSTGRES", postgres_server.start())
    named = PostgresService()
    url = named.create_database()
    psycopg.connect(url).close()
    with pytest.raises(ServiceUnavailable):
        named.kill()
    named.stop()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
