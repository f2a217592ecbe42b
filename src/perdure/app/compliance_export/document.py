"""The form of a compliance document: what is evidence in it, and what is told from the evidence."""

from __future__ import annotations

from typing import Any

import msgspec

FORMAT = "perdure.compliance/2"
FIRST = "perdure.compliance/1"
"""The format of documents that do not list what was asked for and by which key."""
"""Another way of telling the same evidence is another format: a document is compared with what is told anew."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the document: JSON by the names of its fields."""


# --- evidence --------------------------------------------------------------------------------------------------------


class RecordKept(Part, frozen=True):
    """One record of the journal, its bytes exactly as they are stored, in base64."""

    sequence: int
    body: str
    hash: str


class PayloadKept(Part, frozen=True):
    """Data by its hash, its bytes exactly as they are stored, in base64."""

    hash: str
    data: str


class ProofStep(Part, frozen=True):
    """A sibling on the way from the head to the sealed root, and its side."""

    side: str
    hash: str


class SealKept(Part, frozen=True):
    """A seal that lists this chain at `sequence`, and the way from there to its root; `at` is in microseconds."""

    number: int
    at: int
    cursor: int
    root: str
    previous: str
    hash: str
    key_id: str
    signature: str
    sequence: int
    proof: list[ProofStep]


class Chain(Part, frozen=True):
    """Everything kept of one call or instance: from it alone all the rest is told."""

    id: str
    tenant: str
    kind: str
    records: list[RecordKept]
    payloads: list[PayloadKept]
    seals: list[SealKept]


class VerbKept(Part, frozen=True):
    """A verb's definition under the hash it was pinned by."""

    hash: str
    definition: dict[str, Any]


class ModelKept(Part, frozen=True):
    """A deployed process: `definition` is its canonical JSON, whose hash it is pinned by; `xml` is told from it."""

    hash: str
    definition: str
    xml: str


# --- what is told ----------------------------------------------------------------------------------------------------


class Summary(Part, frozen=True):
    """What was asked, by whom, when, and what came of it, in sentences."""

    sentences: list[str]
    principal: str
    started_at: str | None
    ended_at: str | None
    state: str
    told: list[str]


class StepTold(Part, frozen=True):
    """One step: the verb it asked for and the definition it was pinned to."""

    of: str
    number: int
    name: str
    verb: str
    version: int
    definition: str
    sentence: str
    state: str
    input: str
    result: str
    error: str
    carrier: str
    """The id of the instance that carries it; empty when none does."""


class Change(Part, frozen=True):
    """What changed at one path of the data: `kind` is added, removed or changed."""

    path: str
    kind: str
    before: Any = None
    after: Any = None


class Crossing(Part, frozen=True):
    """Data went in or out: what stood before, what after, by their hashes, and what changed."""

    of: str
    sequence: int
    at: str | None
    what: str
    where: str
    verb: str
    by: str
    before: str
    after: str
    changes: list[Change]
    omitted: int
    is_erased: bool


class Visit(Part, frozen=True):
    """A token at an element, in the order they arrived; `how` says how it left."""

    element: str
    name: str
    flow: str
    entered_at: str | None
    left_at: str | None
    how: str


class ProcessTold(Part, frozen=True):
    """An instance: which definition it followed and the way it took."""

    id: str
    parent: str
    process: str
    version: int
    definition: str
    state: str
    business_key: str
    started_at: str | None
    ended_at: str | None
    flags: dict[str, Any]
    path: list[Visit]
    picture: str
    """The diagram with the way taken, as SVG."""


class Frame(Part, frozen=True, omit_defaults=True):
    """One execution of a handler. Entries of before entry version 5 do not say the last four."""

    of: str
    where: str
    verb: str
    attempt: int
    started_at: str | None
    ended_at: str | None
    outcome: str
    error: str
    definition: str = ""
    hash_in: str = ""
    hash_out: str = ""
    flags: dict[str, str | bool | int] = {}


class Act(Part, frozen=True):
    """Something a person did, or that was put before people."""

    of: str
    sequence: int
    at: str | None
    who: str
    what: str
    where: str
    details: dict[str, Any]


class Asking(Part, frozen=True):
    """Something that a person, an agent, a service or a key asked for: a start, progress, a completion, a message."""

    of: str
    sequence: int
    at: str | None
    who: str
    by_key: str
    what: str
    where: str
    details: dict[str, Any]


class Arrival(Part, frozen=True):
    """Something came from outside."""

    of: str
    sequence: int
    at: str | None
    what: str
    name: str
    key: str
    message_id: str
    principal: str
    payload: str


class IncidentTold(Part, frozen=True):
    """What was stuck, and how it went on."""

    of: str
    where: str
    code: str
    text: str
    raised_at: str | None
    resolved_at: str | None
    how: str
    reason: str
    by: str


class Passage(Part, frozen=True):
    """One sub-verb's passage over the data: the hash of the data before and after."""

    of: str
    at: str
    verb: str
    by: str
    job_key: str
    hash_in: str
    hash_out: str


class Tombstone(Part, frozen=True):
    """Data that was erased: its hash stays, so that the chain still verifies."""

    of: str
    hash: str
    erased_at: str | None
    reason: str
    by: str


class Event(Part, frozen=True):
    """One entry of a record in words; fields at their defaults are left out."""

    name: str
    fields: dict[str, Any]


class RecordTold(Part, frozen=True):
    """One record in words."""

    of: str
    sequence: int
    at: str | None
    command: str
    principal: str
    trace: str
    entries: list[Event]


class OutcomeTold(Part, frozen=True):
    """One outcome event of a step, in the words of the table of outcome events."""

    of: str
    number: int
    at: str | None
    event: str
    text: str
    verb: str
    sub_verb: str
    principal: str
    refs: dict[str, str | int]


class Document(Part, frozen=True):
    """The whole. `digest` is over everything else."""

    format: str
    id: str
    tenant: str
    summary: Summary
    steps: list[StepTold]
    data: list[Crossing]
    processes: list[ProcessTold]
    people: list[Act]
    messages: list[Arrival]
    incidents: list[IncidentTold]
    frames: list[Frame]
    trail: list[Passage]
    tombstones: list[Tombstone]
    history: list[RecordTold]
    verbs: list[VerbKept]
    definitions: list[ModelKept]
    chains: list[Chain]
    public_keys: dict[str, str]
    key_changes: list[str] = []
    """Signed changes from one seal key to the next; left out where there was none."""
    outcome_events: list[OutcomeTold] = []
    """What became of each step; documents of before have none."""
    asked: list[Asking] = []
    """What was asked for from outside, by whom and by which key; documents of the first format do not tell it."""
    order: list[int] = []
    """The order of commits: of each record, oldest first, its chain's place in `chains`, from 0.

    Documents of before have none; their outcome events stand in the order of their times.
    """
    digest: str = ""
