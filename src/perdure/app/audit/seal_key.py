"""Which key seals a store, and where it is kept: never in the database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perdure.sources import Sources
from perdure.store.sealer import Sealer
from perdure.store.store import Store


def seal_key_path(url: str, key_file: str | Path | None) -> Path | None:
    """The file of the signing key: the configured one, else beside a SQLite file, else in the working folder.

    A store in memory has none: it is gone before anyone could rewrite it.
    """
    if key_file is not None:
        return Path(key_file)
    if url.startswith("sqlite://"):
        path = url.removeprefix("sqlite://").removeprefix("/")
        return Path(f"{path}.seal.key") if path else None
    return Path("perdure.seal.key")


def sealer_for(
    url: str, key_file: str | Path | None, sources: Sources, every_seconds: float
) -> Callable[[Store], Sealer] | None:
    """Makes the sealer of a store; its key is made with the first seal, and never again."""
    path = seal_key_path(url, key_file)
    if path is None:
        return None

    def make(store: Store) -> Sealer:
        from perdure.store.seal_key_file import SealKeyFile  # noqa: PLC0415  loads cryptography, only who seals needs it

        return Sealer(store, SealKeyFile(path), sources, every_seconds)

    return make
