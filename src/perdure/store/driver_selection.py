"""From a url to the driver that speaks to it."""

from __future__ import annotations

from perdure.errors import StoreSettingError
from perdure.store.ports import Driver
from perdure.store.sqlite.driver import SqliteDriver

SQLITE_PREFIX = "sqlite://"
POSTGRES_PREFIXES = ("postgresql://", "postgres://")


def open_driver(url: str) -> Driver:
    """The driver for a url or a path ending in `.db`, not yet open; `sqlite://` alone is memory."""
    if "\0" in url:
        raise _no_store(url)
    if url.startswith(POSTGRES_PREFIXES):
        from perdure.store.postgres.driver import PostgresDriver  # noqa: PLC0415  psycopg is loaded where it is used

        return PostgresDriver(url)
    if url == SQLITE_PREFIX:
        return SqliteDriver(url, "")
    if url.startswith(SQLITE_PREFIX + "/") and not url.endswith("/"):
        return SqliteDriver(url, url.removeprefix(SQLITE_PREFIX + "/"))
    if "://" not in url and url.endswith(".db"):
        return SqliteDriver(url, url)
    raise _no_store(url)


def _no_store(url: str) -> StoreSettingError:
    return StoreSettingError(
        "open", "store", _without_secrets(url), "that is no url of a store",
        "Write sqlite:///perdure.db, sqlite:////absolute/perdure.db or postgresql://user@host/database.",
    )  # fmt: skip


def _without_secrets(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if mark else url
