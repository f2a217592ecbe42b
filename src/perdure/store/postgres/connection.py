"""Connections to one Postgres database: durable or refused, patient over restarts, errors in our words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row

from perdure.errors import InvariantBroken, PerdureError, StoreFullError, StoreSettingError, StoreUnavailableError
from perdure.store.migrations import newest, outgrown

OLDER = "an older release asks"
"""How a store that was upgraded begins to refuse a lease."""
CONNECT_SECONDS = 10
PATIENCE_SECONDS = 60.0
"""How long work waits for a server that is away before its callers are told."""
FIRST_DELAY, LAST_DELAY = 0.05, 2.0
OLDEST_SERVER = 130000

DEFAULTS: dict[str, Any] = {
    "application_name": "perdure",
    "connect_timeout": CONNECT_SECONDS,
    "client_encoding": "utf8",
    "target_session_attrs": "read-write",
    "keepalives": 1,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30000,
}
WANTED = {
    "synchronous_commit": ("on", "remote_write", "remote_apply"),
    "fsync": ("on",),
    "full_page_writes": ("on",),
    "server_encoding": ("UTF8",),
}
T = TypeVar("T")


MISUNDERSTOOD = (psycopg.ProgrammingError, UnicodeError)
"""What reading a url gives that is none, or holds bytes that are no text."""


def settings(url: str, place: str) -> dict[str, Any]:
    """What the url says over what we ask for by default."""
    try:
        return {**DEFAULTS, **conninfo_to_dict(url)}
    except MISUNDERSTOOD as error:
        raise StoreSettingError(
            "open", "store", place, f"its url is not understood ({str(error).strip()})",
            "Write postgresql://user@host:5432/database.",
        ) from error  # fmt: skip


def place_of(url: str) -> str:
    """The url without what is secret, for messages."""
    try:
        known = conninfo_to_dict(url)
    except MISUNDERSTOOD:
        return "postgresql://"
    return f"postgresql://{known.get('host') or ''}:{known.get('port') or 5432}/{known.get('dbname') or ''}"


async def connect(url: str, place: str, prepare_session: str) -> AsyncConnection[DictRow]:
    connection = await AsyncConnection.connect(**settings(url, place), autocommit=True, row_factory=dict_row)
    try:
        cursor = await connection.execute(prepare_session)
        check_durable(await cursor.fetchone(), place)
    except BaseException:
        await connection.close()
        raise
    return connection


def connect_blocking(url: str, place: str, prepare_session: str) -> Connection[DictRow]:
    connection = Connection.connect(**settings(url, place), autocommit=True, row_factory=dict_row)
    try:
        check_durable(connection.execute(prepare_session).fetchone(), place)
    except BaseException:
        connection.close()
        raise
    return connection


def check_durable(actual: DictRow | None, place: str) -> None:
    """Refuse a session whose commits could be lost."""
    assert actual is not None
    for name, allowed in WANTED.items():
        if actual[name] not in allowed:
            raise StoreSettingError(
                "open a durable store at", "database", place, f"{name} is '{actual[name]}', not '{allowed[0]}'",
                f"Set {name} = {allowed[0]} on the server, for the database and for the user.",
            )  # fmt: skip
    if int(actual["server_version_num"]) < OLDEST_SERVER:
        raise StoreSettingError(
            "open", "database", place, f"the server's version is {actual['server_version_num']}",
            "Postgres 13 is the oldest that works.",
        )  # fmt: skip


class Lost(Exception):
    """The connection is gone; whether the last request took effect is not known."""


def is_away(error: BaseException) -> bool:
    """Whether trying again on a new connection may help."""
    return isinstance(error, Lost | OSError | psycopg.OperationalError) and not isinstance(
        error,
        psycopg.errors.InvalidAuthorizationSpecification
        | psycopg.errors.InvalidCatalogName
        | psycopg.errors.DiskFull
        | psycopg.errors.ProgramLimitExceeded,  # what is too large for an index stays too large
    )


async def patiently(action: Callable[[], Awaitable[T]], place: str, closing: asyncio.Event, seconds: float) -> T:
    """Do something, again and again over lost connections, until patience ends or the store closes."""
    loop = asyncio.get_running_loop()
    deadline, delay = loop.time() + seconds, FIRST_DELAY
    while True:
        try:
            return await action()
        except (Lost, OSError, psycopg.Error) as error:
            if not is_away(error) or loop.time() >= deadline or closing.is_set():
                raise translated(error, place) from error
        await pause(delay, closing)
        delay = min(delay * 2, LAST_DELAY)


async def pause(seconds: float, closing: asyncio.Event) -> None:
    """Wait so long, or until the store closes."""
    try:
        async with asyncio.timeout(seconds):
            await closing.wait()
    except TimeoutError:
        return


def translated(error: BaseException, place: str) -> PerdureError:
    """The platform's error for one of the server's."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if isinstance(error, psycopg.errors.DiskFull):
        return StoreFullError(
            "write to", "store", place, f"the disk refused ({text})",
            "Nothing of this commit was written. Free some space and try again.",
        )  # fmt: skip
    if isinstance(error, psycopg.errors.DivisionByZero) or OLDER in text:
        return outgrown(place, newest("postgres"))  # of two statements alone, which say so in this way
    if is_away(error):
        return StoreUnavailableError(
            "reach", "store", place, f"it did not answer ({text})",
            "A commit that was under way may have taken effect; asking again under the same key is safe.",
        )  # fmt: skip
    if isinstance(error, psycopg.DataError | psycopg.IntegrityError | psycopg.errors.ProgramLimitExceeded):
        # Trying again cannot help, and whoever insists would insist for ever.
        return InvariantBroken("write to", "store", place, f"it cannot keep this ({text})")
    return StoreUnavailableError("use", "store", place, text)


def closed(place: str) -> StoreUnavailableError:
    return StoreUnavailableError("use", "store", place, "it has been closed")
