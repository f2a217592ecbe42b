"""Checks the evidence of a document piece by piece: records, data, definitions, seals."""

from __future__ import annotations

import base64
from hashlib import sha256

from perdure.app.compliance_export.document import Chain, Document, SealKept
from perdure.app.compliance_export.journal_replay import KINDS, ChainReplay
from perdure.errors import PerdureError
from perdure.payload import canonical, data_hash, digest, digest_text, parse, parse_digest
from perdure.sources import parse_id
from perdure.store.audit.chain_walk import Walk
from perdure.store.audit.findings import Finding, found
from perdure.store.audit.payload_references import named_by
from perdure.store.audit.seal_audit import check_signature
from perdure.store.seals.merkle import Step, root_of_proof
from perdure.store.seals.seal import Leaf, Seal
from perdure.store.signing_keys import PublicKeys

PLACE = "document"
SIDES = {"left": True, "right": False}
Hashes = dict[int, bytes]
"""The hash of each record by its number."""


def check_chain(chain: Chain, tenant: str, hashes: Hashes) -> list[Finding]:
    """Records from the first, each replayed, and the data they speak of; fills in the hashes of the records."""
    id = parse_id(chain.id)
    if chain.kind not in KINDS or chain.tenant != tenant:
        return [found("AUD009", PLACE, f"'{chain.kind[:40]}' of '{chain.tenant[:40]}' does not belong here", id)]
    walk = Walk(id, chain.tenant, chain.kind, None)
    for record in chain.records:
        hash = parse_digest(record.hash)
        walk.take(record.sequence, base64.b64decode(record.body, validate=True), hash)
        hashes[record.sequence] = hash
    try:
        chronicle = ChainReplay(chain)
        chronicle.replay()
    except Exception as error:  # damaged bytes can make anything of a record
        fact = f"replaying them gave {type(error).__name__} ({str(error)[:200]})"
        return [*walk.findings, found("AUD006", PLACE, fact, id)]
    return walk.findings + _check_payloads(chronicle, id)


def _check_payloads(chronicle: ChainReplay, id: bytes) -> list[Finding]:
    chain, known = chronicle.chain, chronicle.spoken_of()
    needed, is_erased = named_by(chronicle.machine, chronicle.state)
    findings, missing = [], {digest_text(hash) for hash in needed}
    for kept in chain.payloads:
        data = base64.b64decode(kept.data, validate=True)
        missing.discard(kept.hash)
        if digest_text(digest(data)) != kept.hash:
            findings.append(found("AUD010", PLACE, f"the bytes kept as {kept.hash} are others", id))
        elif not _is_canonical(data):
            findings.append(found("AUD074", PLACE, f"those of {kept.hash}", id))
        if parse_digest(kept.hash) not in known:
            findings.append(found("AUD012", PLACE, f"nothing explains {kept.hash}", id))
    if is_erased and chain.payloads:
        findings.append(found("AUD013", PLACE, f"{len(chain.payloads)} payloads", id))
    return findings + [found("AUD011", PLACE, f"no bytes for {hash}", id) for hash in sorted(missing)]


def _is_canonical(data: bytes) -> bool:
    try:
        return canonical(parse(data, max_bytes=max(len(data), 1))) == data
    except PerdureError:
        return False


def check_definitions(document: Document) -> list[Finding]:
    """Verbs and processes are what their hashes say."""
    findings = []
    for verb in document.verbs:
        if data_hash(verb.definition) != verb.hash:
            findings.append(found("AUD076", PLACE, f"the verb kept as {verb.hash} is another"))
    for model in document.definitions:
        if f"sha256:{sha256(model.definition.encode()).hexdigest()}" != model.hash:
            findings.append(found("AUD076", PLACE, f"the process kept as {model.hash} is another"))
    return findings


def check_seals(chain: Chain, hashes: Hashes, public_keys: PublicKeys) -> list[Finding]:
    """Signatures, and the way from a record of the chain to each signed root."""
    id, findings = parse_id(chain.id), []
    for kept in chain.seals:
        place = f"seal {kept.number}"
        seal = _seal(kept)
        findings += check_signature(seal, public_keys, place)
        leaf = Leaf(id, kept.sequence, hashes.get(kept.sequence, b""))
        path = [Step(SIDES[step.side], bytes.fromhex(step.hash)) for step in kept.proof]
        if root_of_proof(leaf.data(), path) != seal.root:
            findings.append(found("AUD073", place, f"record {kept.sequence}", id, kept.sequence))
    return findings


def _seal(kept: SealKept) -> Seal:
    parts = {name: bytes.fromhex(getattr(kept, name)) for name in ("root", "previous", "hash", "signature")}
    return Seal(
        kept.number, kept.at, kept.cursor, b"", parts["root"], parts["previous"], parts["hash"], kept.key_id,
        parts["signature"],
    )  # fmt: skip
