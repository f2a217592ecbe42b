"""Gathers the evidence of a call from a store: its chain, everything it began, definitions, seals."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import msgspec

from perdure.app.compliance_export.child_instances import Child, children_of
from perdure.app.compliance_export.document import Chain, PayloadKept, ProofStep, RecordKept, SealKept
from perdure.app.compliance_export.document_composer import bound_verbs, compose, written
from perdure.app.compliance_export.evidence import Evidence
from perdure.app.compliance_export.html_page import page_of
from perdure.app.compliance_export.journal_replay import KINDS, ChainReplay, hash_text
from perdure.app.outcomes.stream import SETTLES_SECONDS, SETTLING_TURNS
from perdure.app.perdure import Perdure
from perdure.bpmn.machine.aggregate_ids import process_id
from perdure.bpmn.machine.state import Instance
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.ports import Loaded
from perdure.payload import data_hash, digest_text
from perdure.sources import Id, id_text, parse_id
from perdure.store.audit.audit_reader import Reader, plain
from perdure.store.audit.call_export import SealReader
from perdure.store.checksums import checked
from perdure.store.delta_read import DeltaReader
from perdure.store.seal_keys import key_changes, known_keys, told_changes
from perdure.store.signing_keys import PublicKeys
from perdure.typed_reading import read_json
from perdure.verbs.definition import VerbDefinition
from perdure.work.computations import check_effort

MAX_CHAINS = 2_000
"""Calls and instances in one document."""
MAX_RECORDS = 200_000
"""Journal records in one document."""
MAX_BYTES = 256 * 1024 * 1024
"""Bytes of records and data in one document."""
PAYLOADS_AT_ONCE = 20
PLACES_AT_ONCE = 1_000
UNSETTLED = 2**63
"""Behind every place in the order of commits."""
SMALL_CHAIN = 200
"""Records of a chain that is replayed in the event loop."""
LOOKS = 5
"""How often a chain that changes while it is read is read again."""


async def export_document(perdure: Perdure, id: str, public_keys: PublicKeys, *, is_page: bool = False) -> bytes:
    """The compliance document of a call or an instance as canonical JSON, or as a page that people read."""
    evidence = await EvidenceCollection(perdure, public_keys).gather(parse_id(id))

    def document() -> bytes:
        composed = compose(evidence)
        check_effort()
        data = written(composed.document)
        return page_of(data) if is_page else data

    return await perdure.runtime.computations.run(perdure._origin.tenant, document)


class EvidenceCollection:
    """One document's worth of reading, within its limits."""

    def __init__(self, perdure: Perdure, public_keys: PublicKeys) -> None:
        runtime = perdure.runtime
        self._kernel = runtime.kernel
        self._computations = runtime.computations
        self._store = runtime.store
        self._reader = Reader(runtime.store.driver)
        self._seals = SealReader(self._reader)
        self._origin: Origin = perdure._origin
        self._catalogue = perdure.catalogue
        self._public_keys = public_keys
        self._root = ""
        self._records = self._bytes = 0

    async def gather(self, root: Id) -> Evidence:
        self._root = id_text(root)
        aggregate = await self._kernel.read(root, self._origin)  # refuses what belongs to another tenant
        if aggregate.kind not in KINDS:
            raise self._refused("invalid", f"that is the id of a {aggregate.kind}", "Name a call or an instance.")
        evidence = Evidence(self._root, {}, {}, {}, {})
        waiting = [root]
        for id in waiting:
            chain = await self._chain(id)
            if chain is None or chain.tenant != self._origin.tenant or chain.id in evidence.chains:
                continue
            if len(evidence.chains) >= MAX_CHAINS:
                raise self._refused("blocked", f"it began more than {MAX_CHAINS:,} calls and instances")
            evidence.chains[chain.id] = chain
            chronicle, children = await self._replayed(chain)
            waiting.extend(parse_id(child.id) for child in children)
            await self._definitions(chronicle, evidence)
        await self._verbs(evidence)
        evidence.order = await self._order(evidence)
        signers = {seal.key_id for chain in evidence.chains.values() for seal in chain.seals}
        changes = await key_changes(self._reader.fetch)
        known = known_keys(self._public_keys, changes)
        evidence.public_keys = {name: known[name].hex() for name in signers & set(known)}
        evidence.key_changes = told_changes(changes)
        return evidence

    async def _replayed(self, chain: Chain) -> tuple[ChainReplay, list[Child]]:
        """A chain replayed, with the aggregates that it began."""

        def replayed() -> tuple[ChainReplay, list[Child]]:
            chronicle = ChainReplay(chain)
            return chronicle, children_of(chronicle)

        is_small = len(chain.records) <= SMALL_CHAIN
        return await self._computations.run(self._origin.tenant, replayed, is_small=is_small)

    async def _chain(self, id: Id) -> Chain | None:
        """One chain with its data; read again when it changed meanwhile, since its data may have been erased."""
        chain = None
        loaded = await self._loaded(id)
        for _ in range(LOOKS):
            if loaded is None:
                return None
            chain = await self._look(id, loaded)
            before, loaded = loaded, await self._loaded(id)
            if loaded is not None and loaded.version == before.version:
                break
        return chain

    async def _loaded(self, id: Id) -> Loaded | None:
        rows = await self._reader.fetch("load_aggregate", id=id)
        return checked(plain(rows[0])) if rows else None

    async def _look(self, id: Id, loaded: Loaded) -> Chain:
        chain = Chain(
            id=id_text(id), tenant=loaded.tenant, kind=loaded.kind, records=await self._history(id, loaded),
            payloads=[], seals=[_seal(each) for each in await self._seals.of(id, loaded.version)],
        )  # fmt: skip
        return msgspec.structs.replace(chain, payloads=await self._payloads(id, chain))

    async def _history(self, id: Id, loaded: Loaded) -> list[RecordKept]:
        """The records up to the version that is exported, each checked to follow the one before it."""
        found: list[RecordKept] = []
        async for row in self._store.history(loaded):
            if row.sequence > loaded.version:
                break
            self._count(len(row.body), records=1)
            found.append(RecordKept(sequence=row.sequence, body=_text(row.body), hash=digest_text(row.hash)))
        return found

    async def _order(self, evidence: Evidence) -> list[str]:
        """The chain of each record in the order of commits; records that are about to settle come last."""
        found: list[tuple[int, str, int]] = []
        for chain in evidence.chains.values():
            places = await self._places(parse_id(chain.id), len(chain.records))
            found += [(places.get(each.sequence, UNSETTLED), chain.id, each.sequence) for each in chain.records]
        return [chain for _, chain, _ in sorted(found)]

    async def _places(self, id: Id, count: int) -> dict[int, int]:
        """The places of a chain's records; those that somebody's transaction holds back are looked for again."""
        places: dict[int, int] = {}
        for _ in range(SETTLING_TURNS):
            while rows := await self._store.places(id, len(places), min(PLACES_AT_ONCE, count - len(places))):
                places |= dict(rows)
            if len(places) >= count:
                break
            await asyncio.sleep(SETTLES_SECONDS)
        return places

    async def _payloads(self, id: Id, chain: Chain) -> list[PayloadKept]:
        """The data the records speak of; what came after the version that is exported is left out."""
        found, wholes = {}, DeltaReader(self._reader.fetch)
        is_small = len(chain.records) <= SMALL_CHAIN
        spoken = await self._computations.run(
            self._origin.tenant, lambda: ChainReplay(chain).spoken_of(), is_small=is_small
        )
        async for _, hash, data in self._reader.pages("payload_page", 0, 0, PAYLOADS_AT_ONCE, aggregate=id):
            if hash in spoken:
                whole = await wholes.of(id, hash, data)
                self._count(len(whole))
                found[hash] = PayloadKept(hash=digest_text(hash), data=_text(whole))
        return [found[hash] for hash in sorted(found)]

    def _count(self, size: int, records: int = 0) -> None:
        self._bytes += size
        self._records += records
        if self._bytes > MAX_BYTES:
            raise self._refused("blocked", f"its records and data weigh more than {MAX_BYTES:,} bytes")
        if self._records > MAX_RECORDS:
            raise self._refused("blocked", f"it has more than {MAX_RECORDS:,} journal records")

    async def _definitions(self, chronicle: ChainReplay, evidence: Evidence) -> None:
        if chronicle.is_call:
            return
        state: Instance = chronicle.state
        for hash in (state.definition, *(past[0] for past in state.past)):
            if hash_text(hash) in evidence.models:
                continue
            data = await self._store.payload(process_id(chronicle.chain.tenant, state.process), hash)
            if data is not None:
                self._count(len(data))
                evidence.models[hash_text(hash)] = data.decode()

    async def _verbs(self, evidence: Evidence) -> None:
        """The definitions that are spoken of: from the store, where workers keep theirs, or from the project."""
        wanted = {
            digest_text(hash) for chain in evidence.chains.values() for hash in ChainReplay(chain).spoken_of()
        } | bound_verbs(evidence.models.values())  # fmt: skip
        for row in await self._store.definitions():
            if (hash := digest_text(bytes(row[0]))) in wanted and (definition := _read(hash, row[4])) is not None:
                evidence.verbs[hash] = definition
        for verb in self._catalogue.every_version():
            if verb.content_hash in wanted:
                evidence.verbs.setdefault(verb.content_hash, verb.definition.content)

    def _refused(self, code: Any, fact: str, hint: str = "") -> RejectedError:
        return RejectedError(Rejection(code, "export", "call", self._root, fact, hint))


def _read(hash: str, body: bytes) -> dict[str, Any] | None:
    """What a kept definition was hashed from, when this release still reads it as what it was."""
    try:
        content = read_json(body, VerbDefinition).content
    except msgspec.ValidationError:
        return None
    return content if data_hash(content) == hash else None


def _seal(item: dict[str, Any]) -> SealKept:
    proof = [ProofStep(**step) for step in item["proof"]]
    return SealKept(**{**item, "proof": proof})


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
