"""The operations on a whole store: verify it, export calls from it, seal it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from perdure.app.audit.seal_key import seal_key_path
from perdure.app.perdure import Perdure
from perdure.errors import RejectedError, Rejection
from perdure.sources import parse_id
from perdure.store.audit import Anchor, Report, export, verify
from perdure.store.audit.store_verification import Progress
from perdure.store.sealer import Sealer
from perdure.store.signing_keys import PUBLIC_SUFFIX, PublicKeys, load_or_create_key, load_public_keys


def public_keys_of(url: str, key_file: str | Path | None, given: Sequence[Path] = ()) -> PublicKeys:
    """The keys seals are checked with: those given, else the public half of the store's own key."""
    if given:
        return load_public_keys(given)
    private = seal_key_path(url, key_file)
    public = private.with_name(private.name + PUBLIC_SUFFIX) if private is not None else None
    return load_public_keys([public]) if public is not None and public.exists() else {}


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
        require_sealed=require_sealed, anchor=anchor, dry=is_dry,
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
    path = seal_key_path(url, key_file)
    if path is None:
        raise RejectedError(Rejection("invalid", "seal", "store", url, "a store in memory has no key"))
    runtime = perdure.runtime
    return await Sealer(runtime.store, load_or_create_key(path), runtime.sources).seal_all()
