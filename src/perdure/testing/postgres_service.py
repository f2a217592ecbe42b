"""The Postgres service of tests, on loopback and a free port; an environment variable may name a running one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import LiteralString
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from perdure.testing.postgres_binaries import find_installation
from perdure.testing.postgres_server import PostgresServer, RestartMode
from perdure.testing.service_availability import ServiceUnavailable, is_required

__all__ = ["PostgresService", "ServiceUnavailable", "is_required"]

POSTGRES_VARIABLE = "PERDURE_TEST_POSTGRES"
CONNECT_SECONDS = 10


class PostgresService:
    """One Postgres server for a test session, and a fresh database for whoever asks.

    Where `PERDURE_TEST_POSTGRES` names a server, that one is used; it is then never restarted or killed.
    One of our own keeps its data at `place`, else where the system keeps what is temporary.
    """

    def __init__(self, place: Path | None = None) -> None:
        self._place = place
        self._external = os.environ.get(POSTGRES_VARIABLE, "")
        self._server: PostgresServer | None = None
        self._databases: list[str] = []
        self._connection: psycopg.Connection | None = None

    @property
    def is_own(self) -> bool:
        """Whether the server is started here, so that it may be restarted and killed."""
        return not self._external

    def start(self) -> str:
        """Start the server unless it runs already, and return the url of its maintenance database."""
        if self._external:
            return self._external
        if self._server is None:
            self._server = PostgresServer(find_installation(), self._place)
        if not self._server.is_running():
            self._server.start()
        return self._server.url

    def stop(self) -> None:
        """Stop the server and remove its data; on a named server, drop what was created there."""
        if self._external:
            for name in list(self._databases):
                self._drop(name)
        self._disconnect()
        if self._server is not None:
            self._server.remove()
        self._server = None
        self._databases.clear()

    def restart(self, mode: RestartMode = "fast") -> None:
        """Restart on the same port; `immediate` aborts all work and recovers from the log."""
        server = self._own()
        server.stop(mode)
        server.start()

    def kill(self) -> None:
        """SIGKILL the server with all its processes; `start()` brings it back on the same port."""
        self._own().kill()

    def create_database(self, template: str = "template1") -> str:
        """Create a fresh database copied from `template` and return its url."""
        name = f"perdure_{secrets.token_hex(6)}"
        self._execute("CREATE DATABASE {} TEMPLATE {}" + self._strategy(), name, template)
        self._databases.append(name)
        return urlunsplit(urlsplit(self.start())._replace(path=f"/{name}"))

    def drop_database(self, url: str) -> None:
        """Drop a database made by `create_database`, ending its connections; one on a dead server is left alone."""
        name = urlsplit(url).path.lstrip("/")
        is_there = self._external or (self._server is not None and self._server.is_running())
        if is_there and name in self._databases:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
        self._databases.remove(name)

    def _strategy(self) -> LiteralString:
        """In memory a copy of files costs a third of one through the log; on disk every file would be synced."""
        can_choose = self._place is not None and self._connected().info.server_version >= 150_000
        return " STRATEGY FILE_COPY" if can_choose else ""

    def _execute(self, statement: LiteralString, *names: str) -> None:
        composed = sql.SQL(statement).format(*map(sql.Identifier, names))
        try:
            self._connected().execute(composed)
        except psycopg.OperationalError as error:
            self._disconnect()
            raise ServiceUnavailable(f"Postgres does not answer: {error}") from error

    def _connected(self) -> psycopg.Connection:
        """A connection to the maintenance database, kept from one database to the next."""
        kept = self._connection
        if kept is not None and not kept.closed and self._answers(kept):
            return kept
        self._disconnect()
        try:
            self._connection = psycopg.connect(self.start(), autocommit=True, connect_timeout=CONNECT_SECONDS)
        except psycopg.OperationalError as error:
            raise ServiceUnavailable(f"Postgres does not answer: {error}") from error
        return self._connection

    def _answers(self, connection: psycopg.Connection) -> bool:
        """Whether the server of a connection is still there: it may have been restarted or killed."""
        try:
            connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _own(self) -> PostgresServer:
        if self._server is None:
            raise ServiceUnavailable("only a Postgres server that was started here can be restarted or killed")
        return self._server
