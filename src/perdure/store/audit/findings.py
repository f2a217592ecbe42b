"""Audit findings: stable codes, one sentence each, and the report that collects them."""

from __future__ import annotations

import msgspec

from perdure.sources import id_text

MAX_FINDINGS = 10_000
"""Findings kept in a report; those beyond are counted."""

CODES: dict[str, str] = {
    "AUD001": "an aggregate's row no longer matches its checksum",
    "AUD002": "a record no longer matches its hash",
    "AUD003": "a record is missing in the middle of a chain",
    "AUD004": "an aggregate's version is not the number of its records",
    "AUD005": "an aggregate's head is not the hash of its last record",
    "AUD006": "a record cannot be read or applied",
    "AUD007": "replaying the records does not give the stored state",
    "AUD008": "the status, the end or the kind of list of a row is not that of its state",
    "AUD009": "no machine knows an aggregate's kind",
    "AUD010": "a payload's bytes no longer match their hash",
    "AUD011": "a payload that the state names is missing",
    "AUD012": "a payload is kept that no record speaks of",
    "AUD013": "data is still there although it was erased",
    "AUD014": "the parts of an aggregate's state are not those its records lead to",
    "AUD020": "the tokens of an aggregate are not those its state stands for",
    "AUD021": "the timers of an aggregate are not those its state stands for",
    "AUD022": "the jobs of an aggregate are not those its state stands for",
    "AUD023": "the incidents of an aggregate are not those its state stands for",
    "AUD024": "rows speak of an aggregate that is not there",
    "AUD025": "a row cannot be read at all",
    "AUD026": "a row is not what the journal tells of it",
    "AUD027": "a row that the journal tells of is gone",
    "AUD028": "a row is there that the journal does not tell of",
    "AUD029": "the record of a row cannot be read or is not the one that was written",
    "AUD030": "an entity's data no longer matches its hash",
    "AUD031": "an entity is not the newest version of its history",
    "AUD032": "a version of an entity is missing in its history",
    "AUD033": "a history is kept of an entity that is not there",
    "AUD034": "the row or the blobs of a document are not those its state stands for",
    "AUD035": "the words a document is found by are not those of its data",
    "AUD036": "a blob's bytes no longer match their hash",
    "AUD037": "a blob that a document needs is missing",
    "AUD040": "a pending message says neither by whom nor with what to act on it",
    "AUD041": "a message no longer matches its checksum",
    "AUD050": "a seal is missing",
    "AUD051": "a seal does not follow the one before it",
    "AUD052": "a seal no longer matches its hash",
    "AUD053": "a seal's signature is false",
    "AUD054": "a seal is signed with a key that was not given",
    "AUD055": "the list of what a seal covers cannot be read",
    "AUD056": "what a seal covers no longer has the root that was signed",
    "AUD057": "an aggregate that was sealed is gone",
    "AUD058": "a record that was sealed is gone",
    "AUD059": "a record that was sealed stands elsewhere in the journal",
    "AUD060": "a record stands among sealed ones and is not sealed",
    "AUD061": "a seal reaches beyond the end of the journal",
    "AUD062": "records are not sealed yet, and sealing was required",
    "AUD063": "a seal that was noted elsewhere is not in the chain",
    "AUD064": "seals that the journal speaks of are gone",
    "AUD070": "an export is not a document of this form",
    "AUD071": "an export does not match its own digest",
    "AUD072": "an export says something else than its records",
    "AUD073": "an export's proof does not lead to the sealed root",
    "AUD074": "the bytes of a payload are not in their canonical form",
    "AUD075": "a document lacks a part that its records speak of",
    "AUD076": "a definition in a document does not match its hash",
    "AUD080": "a unique key does not lead to its row alone",
}


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong: what, where, in which aggregate and at which record where that is known."""

    code: str
    place: str
    sentence: str
    aggregate: str = ""
    sequence: int = 0
    id: bytes = b""


class Report(msgspec.Struct):
    """The outcome of an audit. `unsealed` records are younger than the last seal, which is no fault.

    `before_anchors` counts rows that no journal tells of because an older release wrote them.
    """

    aggregates: int = 0
    records: int = 0
    payloads: int = 0
    timers: int = 0
    entities: int = 0
    blobs: int = 0
    seals: int = 0
    unsealed: int = 0
    before_anchors: int = 0
    warnings: list[str] = []
    last_seal: tuple[int, str] = (0, "")
    findings: list[Finding] = []
    omitted: int = 0

    @property
    def is_clean(self) -> bool:
        return not self.findings

    def add(self, findings: list[Finding]) -> None:
        room = MAX_FINDINGS - len(self.findings)
        self.findings.extend(findings[:room])
        self.omitted += max(0, len(findings) - room)


def found(code: str, place: str, fact: str, id: bytes = b"", sequence: int = 0) -> Finding:
    """A finding whose sentence begins with what its code means."""
    assert code in CODES
    return Finding(
        code, place, f"{CODES[code][0].upper()}{CODES[code][1:]}: {fact}.", id_text(id) if id else "", sequence, id
    )


def orphaned(table: str, id: bytes) -> Finding:
    """Rows that speak of an aggregate that is not there."""
    return found("AUD024", table, f"table '{table}' has rows of it", id)
