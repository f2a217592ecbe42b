"""Checks a compliance document with nothing but the document and, if you have them, the public keys."""

from __future__ import annotations

import msgspec

from perdure.app.compliance_export.document import FIRST, FORMAT, Document
from perdure.app.compliance_export.document_composer import Composed, compose, digest_of, written
from perdure.app.compliance_export.evidence import evidence_in
from perdure.app.compliance_export.evidence_checks import Hashes, check_chain, check_definitions, check_seals
from perdure.app.compliance_export.html_page import document_in, is_page, page_of
from perdure.payload import canonical
from perdure.sources import parse_id
from perdure.store.audit.findings import Finding, found
from perdure.store.seal_keys import read_changes, trusted_keys
from perdure.store.signing_keys import PublicKeys
from perdure.typed_reading import read_json

PLACE = "document"
BROKEN = frozenset({"AUD002", "AUD003", "AUD006", "AUD009", "AUD010", "AUD076"})
"""Evidence with such findings is not told anew: nothing that is told from it would mean anything."""
_MARKS = tuple(f'"format":"{each}"'.encode() for each in (FORMAT, FIRST))


class Verdict(msgspec.Struct):
    """What is wrong with a document, and what a reader should know although it is not wrong."""

    findings: list[Finding]
    notes: list[str]
    records: int = 0
    payloads: int = 0
    seals: int = 0


def is_document(data: bytes) -> bool:
    """Whether this looks like a compliance document, as JSON or as a page, rather than another export."""
    return is_page(data) or any(mark in data for mark in _MARKS)


def check_document(data: bytes, public_keys: PublicKeys | None = None, *, require_sealed: bool = False) -> Verdict:
    """Chains, replay, data, definitions, seals, and everything that is told, word by word; nothing is trusted.

    Without public keys those inside the document are used: that shows it is whole, not who sealed it.
    """
    try:
        return _Check(public_keys, require_sealed).verdict(data)
    except Exception as error:  # a stranger's file can be wrong in any way
        fact = f"reading it gave {type(error).__name__} ({str(error)[:200]})"
        return Verdict([found("AUD070", PLACE, fact)], [])


class _Check:
    def __init__(self, public_keys: PublicKeys | None, require_sealed: bool) -> None:
        self._public_keys = public_keys
        self._require_sealed = require_sealed
        self._findings: list[Finding] = []
        self._notes: list[str] = []

    def verdict(self, data: bytes) -> Verdict:
        raw = document_in(data) if is_page(data) else data
        document = read_json(raw, Document)
        if document.format not in (FORMAT, FIRST):
            fact = f"its format is '{document.format[:80]}', this release knows '{FORMAT}'"
            return Verdict([found("AUD070", PLACE, fact)], [])
        self._evidence(document)
        self._told(document, data)
        return Verdict(
            self._findings, self._notes,
            sum(len(chain.records) for chain in document.chains),
            sum(len(chain.payloads) for chain in document.chains),
            sum(len(chain.seals) for chain in document.chains),
        )  # fmt: skip

    def _evidence(self, document: Document) -> None:
        embedded = {id: bytes.fromhex(key) for id, key in document.public_keys.items()}
        changes = read_changes(document.key_changes)
        keys = embedded if self._public_keys is None else trusted_keys(self._public_keys, changes)
        sealed = records = 0
        for chain in document.chains:
            hashes: Hashes = {}
            self._findings += check_chain(chain, document.tenant, hashes)
            self._findings += check_seals(chain, hashes, keys)
            last = max((seal.sequence for seal in chain.seals), default=0)
            sealed, records = sealed + last, records + len(chain.records)
            if self._require_sealed and last < len(chain.records):
                id = parse_id(chain.id)
                self._findings.append(found("AUD062", PLACE, f"records after {last}", id, last + 1))
        self._findings += check_definitions(document)
        self._note_seals(document, sealed, records)

    def _note_seals(self, document: Document, sealed: int, records: int) -> None:
        if sealed < records:
            self._notes.append(
                f"{records - sealed} of {records} records are not under a seal: their chain alone protects them."
            )
        if self._public_keys is None and any(chain.seals for chain in document.chains):
            self._notes.append(
                "Signatures were checked only against the key inside the document: that shows it is whole, not who "
                "sealed it. Give the public key you trust: --key FILE.pub."
            )

    def _told(self, document: Document, data: bytes) -> None:
        """Tell everything anew from the evidence and compare."""
        if digest_of(document) != document.digest:
            self._findings.append(found("AUD071", PLACE, "something in it was changed"))
        if any(each.code in BROKEN for each in self._findings):
            return
        try:
            composed = compose(evidence_in(document), document.format)
        except Exception as error:  # evidence that cannot be told was named above, and if not, here
            fact = f"its evidence cannot be told ({type(error).__name__}: {str(error)[:200]})"
            self._findings.append(found("AUD072", PLACE, fact))
            return
        self._findings += _missing(document, composed)
        self._notes += [f"The definition {hash} is not in the document." for hash in composed.unknown]
        anew = written(composed.document)
        self._findings += _compared(document, composed.document)
        if is_page(data):
            if not self._findings and page_of(anew) != data:
                fact = "what the page shows is not what the document inside it says"
                self._findings.append(found("AUD072", "page", fact))
        elif not self._findings and anew != data:
            self._findings.append(found("AUD070", PLACE, "it is not written in its canonical form"))


def _compared(document: Document, anew: Document) -> list[Finding]:
    """Which members say something else than the evidence."""
    names = [name for name in document.__struct_fields__ if name != "digest"]
    wrong = [name for name in names if not _is_same(getattr(document, name), getattr(anew, name))]
    return [found("AUD072", PLACE, f"its '{name}'") for name in wrong]


def _is_same(one: object, other: object) -> bool:
    # Equal structs may hold 1, 1.0 or True; only the bytes tell.
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return canonical(msgspec.to_builtins(one)) == canonical(msgspec.to_builtins(other))


def _missing(document: Document, composed: Composed) -> list[Finding]:
    """Data that the chain names and does not say was erased, and parts it heard the end of."""
    held = {chain.id: {payload.hash for payload in chain.payloads} for chain in document.chains}
    findings = [
        found("AUD011", PLACE, f"no bytes for {hash}", parse_id(id))
        for id, hashes in composed.needed.items()
        for hash in sorted(hashes - held[id])
    ]
    return findings + [
        found("AUD075", PLACE, f"{child.where} was carried by {child.id}, which is not in it")
        for child in composed.missing
        if child.is_certain
    ]
