"""Which key seals a store, and where it is kept: never in the database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perdure.store.sealer import Sealer
from perdure.store.store import Store


def seal_key_path(url: str, key_file: str | Path | None) -> Path | None:
    """The file of the signing key: the configured one, else beside a SQLite file, else in the working folder."""
    if key_file is not None:
        return Path(key_file)
    path = url.removeprefix("sqlite://").removeprefix("/") if url.startswith("sqlite:///") else ""
    if url.startswith("sqlite://"):
        return Path(f"{path}.seal.key") if path else None
    return Path("perdure.seal.key")


def sealer_for(url: str, key_file: str | Path | None, every_seconds: float) -> Callable[[Store], Sealer] | None:
    return None
