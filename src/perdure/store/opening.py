"""Opens a driver for a url."""

from __future__ import annotations

from perdure.errors import StoreSettingError
from perdure.store.ports import Driver
from perdure.store.sqlite.driver import SqliteDriver


def open_driver(url: str) -> Driver:
    """The driver for a store's url; it is not connected yet."""
    if url.startswith("sqlite:///"):
        return SqliteDriver(url, url.removeprefix("sqlite:///"))
    if url == "sqlite://":
        return SqliteDriver(url, "")
    raise StoreSettingError("open", "store", url, "its kind is not known", "Use sqlite:///file.db or postgresql://…")
