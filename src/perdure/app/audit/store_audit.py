"""The operations on a whole store: verify it, export calls from it, seal it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from perdure.app.audit.seal_key import seal_key_path
from perdure.app.perdure import Perdure
from perdure.errors import RejectedError, Rejection
from perdure.sources import parse_id
from perdure.store.audit import Anchor, Report, export, verify
from perdure.store.audit.store_verification import Progress
from perdure.store.seal_key_file import SealKeyFile
from perdure.store.seal_keys import change_of, key_changes, known_keys, record_of
from perdure.store.sealer import Sealer, store_name
from perdure.store.signing_keys import PublicKeys, load_key, load_public_keys


def public_keys_of(url: str, key_file: str | Path | None, given: Sequence[Path] = ()) -> PublicKeys:
    """The keys seals are checked with: those given, else the public halves beside the store's own key."""
    if given:
        return load_public_keys(given)
    private = seal_key_path(url, key_file)
    return load_public_keys(SealKeyFile(private).public_files()) if private is not None else {}


async def noted_seal(perdure: Perdure, url: str, key_file: str | Path | None) -> Anchor | None:
    """The last seal as it was noted beside the key."""
    path = seal_key_path(url, key_file)
    noted = SealKeyFile(path).noted(await store_name(perdure.runtime.store.driver)) if path is not None else None
    return Anchor(*noted) if noted is not None else None


async def verify_store(
    perdure: Perdure,
    public_keys: PublicKeys,
    *,
    progress: Progress | None = None,
    is_quick: bool = False,
    require_sealed: bool = False,
    anchor: Anchor | None = None,
    is_dry: bool = False,
) -> Report:
    """Check everything stored against everything else; damaged calls are set aside unless it is dry."""
    runtime = perdure.runtime
    return await verify(
        runtime.store, runtime.machines, public_keys, progress=progress, full=not is_quick,
        require_sealed=require_sealed, anchor=anchor, dry=is_dry, blobs=runtime.blobs.check,
    )  # fmt: skip


async def export_calls(
    perdure: Perdure, ids: Sequence[str], out: Path, public_keys: PublicKeys, progress: Progress | None = None
) -> int:
    """Write a document for each call, instance or process, for all there are when none is named; returns how many."""
    runtime = perdure.runtime
    wanted = [parse_id(id) for id in ids] or None
    for id in wanted or ():
        await runtime.kernel.read(id, perdure._origin)  # refuses what belongs to another tenant
    return await export(runtime.store, runtime.machines, wanted, out, public_keys, progress=progress)


async def write_document(
    perdure: Perdure, id: str, file: Path, public_keys: PublicKeys, *, is_page: bool = False
) -> int:
    """Write the compliance document of a call or an instance, as JSON or as a page; returns its bytes."""
    from perdure.app.compliance_export import export_document  # noqa: PLC0415  draws and writes models

    document = await export_document(perdure, id, public_keys, is_page=is_page)
    try:
        await asyncio.to_thread(file.write_bytes, document)
    except OSError as error:
        fact = f"it cannot be written ({error.strerror})"
        raise RejectedError(Rejection("invalid", "write", "document", str(file), fact)) from error
    return len(document)


async def seal_store(perdure: Perdure, url: str, key_file: str | Path | None) -> int:
    """Seal what is not sealed yet, now; returns how many seals were written."""
    runtime = perdure.runtime
    return await Sealer(runtime.store, _key_file(url, key_file), runtime.sources).seal_all()


class Rotation(NamedTuple):
    """A seal key that was replaced; `is_signed` by the old one where that still existed."""

    key_id: str
    previous_id: str
    is_signed: bool


async def rotate_key(perdure: Perdure, url: str, key_file: str | Path | None, reason: str) -> Rotation:
    """Put a new seal key in force: journalled, signed by the key before it where that still exists.

    The journal knows of the new key before its file takes the place of the old one; interrupted between, the next seal
    puts it there.
    """
    file, runtime = _key_file(url, key_file), perdure.runtime
    driver, now = runtime.store.driver, runtime.sources.now()
    changes, seals = await key_changes(driver.fetch), await driver.fetch("last_seal")
    in_force = changes[-1].key_id if changes else seals[0][3] if seals else ""
    if not in_force:
        fact = "nothing is sealed yet, so there is no key to replace"
        raise RejectedError(Rejection("wrong_state", "rotate key of", "store", url, fact, "Run `perdure audit seal`."))
    old = load_key(file.path) if file.path.exists() else None
    if old is not None and old.key_id != in_force:
        old = None
    known = known_keys(load_public_keys(file.public_files()), changes)
    new = file.prepare()
    change = change_of(new, now, seals[0][0] if seals else 0, reason, old or known.get(in_force, b""))
    await driver.write("add_row_record", **record_of(change))
    file.ready(new.key_id, url)
    return Rotation(new.key_id, in_force, old is not None)


def _key_file(url: str, key_file: str | Path | None) -> SealKeyFile:
    path = seal_key_path(url, key_file)
    if path is None:
        raise RejectedError(Rejection("invalid", "seal", "store", url, "a store in memory has no key"))
    return SealKeyFile(path)
