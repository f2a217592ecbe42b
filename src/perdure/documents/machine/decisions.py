"""Decisions on documents: pure functions of the state, a command, its origin and the time."""

from __future__ import annotations

from typing import assert_never

from perdure.documents.machine import commands as c
from perdure.documents.machine import journal_entries as e
from perdure.documents.machine.document_state import MAX_VERSIONS, Document, Version
from perdure.durations import later
from perdure.errors import Rejection
from perdure.human_tasks import AGENT
from perdure.identifiers import id_text
from perdure.journal import Decision, Origin

Verdict = Decision | Rejection
HELD_TIME = 30 * 60 * 1_000_000
"""The time in which a commit may refer to a blob that was seen in storage; collection spares one for twice as long."""


def create(id: bytes, command: c.CreateDocument, origin: Origin, now: int) -> Verdict:
    if command.version is not None and _is_stale(command.version, now):
        return _stale("create", id)
    made = e.DocumentCreated(
        command.type, command.subject, command.source, command.parent, command.correlation, command.keep, now,
        origin.principal,
    )  # fmt: skip
    first = () if command.version is None else (_received(1, command.version, origin, now),)
    return Decision((made, *first), "created")


Change = c.ReceiveVersion | c.VerifyVersion | c.RejectVersion | c.SupersedeDocument | c.FireTimer
Note = c.RecordRead | c.RecordExtraction | c.FailExtraction | c.RecordScan


def decide(id: bytes, state: Document, command: Change | Note, origin: Origin, now: int) -> Verdict:
    """A command to a document that is there and not erased."""
    match command:
        case c.ReceiveVersion():
            return receive(id, state, command, origin, now)
        case c.VerifyVersion():
            return verify(id, state, command, origin, now)
        case c.RejectVersion():
            return reject(id, state, command, origin, now)
        case c.SupersedeDocument():
            return supersede(id, state, command, origin, now)
        case c.FireTimer():
            return fire(state, command, now)
        case c.RecordRead():
            return read(id, state, command, origin, now)
        case c.RecordExtraction():
            return extract(id, state, command, origin, now)
        case c.FailExtraction():
            return fail_extraction(id, state, command, now)
        case c.RecordScan():
            return scan(id, state, command, now)
        case _:
            assert_never(command)


def _is_stale(version: c.NewVersion, now: int) -> bool:
    """Whether the blob was seen so long ago that it may have been collected since."""
    return version.blob is not None and now - version.found_at > HELD_TIME


def _stale(do: str, id: bytes) -> Rejection:
    fact = "its file was looked at more than half an hour ago and may be gone"
    return _refused("wrong_state", do, id, fact, "Upload the file again.")


def receive(id: bytes, state: Document, command: c.ReceiveVersion, origin: Origin, now: int) -> Verdict:
    number = len(state.versions) + 1
    if _is_stale(command.version, now):
        return _stale("add a version to", id)
    if state.superseded_at:
        fact, hint = f"document '{state.superseded_by}' has taken its place", "Add the version to that one."
        return _refused("wrong_state", "add a version to", id, fact, hint)
    if number > MAX_VERSIONS:
        hint = "Create another document that supersedes it."
        return _refused("blocked", "add a version to", id, f"it has {MAX_VERSIONS} versions already", hint)
    last = state.versions[-1] if state.versions else None
    entries: list[e.DocumentEntry] = [_received(number, command.version, origin, now)]
    if last is not None and last.status == "pending":
        entries.append(e.VersionSuperseded(last.number, now, number))
    return Decision(tuple(entries), "received")


def verify(id: bytes, state: Document, command: c.VerifyVersion, origin: Origin, now: int) -> Verdict:
    do, number = "verify", command.number
    found = _decidable(do, id, state, number)
    if isinstance(found, Rejection):
        return found
    if found.status == "verified" and found.decided_by == origin.principal:
        return Decision((), "replayed", keeps=False)
    if found.status != "pending":
        return _refused("wrong_state", do, id, f"version {number} is {found.status} since it was decided on")
    if not found.is_readable:
        fact = "its scan refused it" if found.scan == "refused" else "its scan is not done yet"
        return _refused("blocked", do, id, fact)
    if found.valid_until and found.valid_until <= now:
        return _refused("wrong_state", do, id, f"the validity of version {number} has ended", "Reject it as EXPIRED.")
    if (refusal := _may_decide(do, id, found, command.rule, origin)) is not None:
        return refusal
    entries: list[e.DocumentEntry] = [e.VersionVerified(number, now, origin.principal, command.note)]
    entries += [e.VersionSuperseded(each.number, now, number) for each in state.versions if each.status == "verified"]
    return Decision(tuple(entries), "verified")


def reject(id: bytes, state: Document, command: c.RejectVersion, origin: Origin, now: int) -> Verdict:
    do, number = "reject", command.number
    found = _decidable(do, id, state, number, or_current=True)
    if isinstance(found, Rejection):
        return found
    if found.status == "rejected" and (found.decided_by, found.reason) == (origin.principal, command.reason):
        return Decision((), "replayed", keeps=False)
    if not found.is_open:
        return _refused("wrong_state", do, id, f"version {number} is {found.status}")
    if (refusal := _may_decide(do, id, found, command.rule, origin)) is not None:
        return refusal
    return Decision((e.VersionRejected(number, now, origin.principal, command.reason, command.note),), "rejected")


def supersede(id: bytes, state: Document, command: c.SupersedeDocument, origin: Origin, now: int) -> Verdict:
    do = "supersede"
    if command.document == id_text(id):
        return _refused("invalid", do, id, "a document cannot take its own place")
    if state.superseded_at:
        if state.superseded_by == command.document:
            return Decision((), "replayed", keeps=False)
        return _refused("wrong_state", do, id, f"document '{state.superseded_by}' has taken its place already")
    if (refusal := _belongs(do, id, command.rule, origin)) is not None:
        return refusal
    return Decision((e.DocumentSuperseded(command.document, now, origin.principal, command.note),), "superseded")


def erase(state: Document, command: c.EraseDocument, origin: Origin, now: int) -> Decision:
    """What is not there any more is evidence of nothing: the versions that were, or might have become it, end first."""
    if state.erased_at:
        return Decision((), "replayed", keeps=False)
    ended = [e.VersionExpired(each.number, now) for each in state.versions if each.is_open]
    return Decision((*ended, e.DocumentErased(now, origin.principal, command.reason)), "erased")


def keep_longer(state: Document, command: c.KeepLonger, now: int) -> Decision:
    """Count the time that data is kept from now on, where it was over; a later change has made another time of it."""
    is_due = state.ended_at and state.keep is not None and later(state.ended_at, state.keep) == command.due
    if state.erased_at or not is_due:
        return Decision((), "nothing", keeps=False)
    return Decision((e.RetentionRestarted(now),), "kept")


def fire(state: Document, command: c.FireTimer, now: int) -> Decision:
    """A timer that no longer means anything changes nothing: a later decision made it so."""
    if command.kind == "expiry" and 0 < command.number <= len(state.versions):
        version = state.versions[command.number - 1]
        if version.is_open and version.valid_until == command.due:
            return Decision((e.VersionExpired(command.number, now),), "expired")
    return Decision((), "nothing", keeps=False)


def read(id: bytes, state: Document, command: c.RecordRead, origin: Origin, now: int) -> Verdict:
    found = _version("read", id, state, command.number)
    if isinstance(found, Rejection):
        return found
    if not found.is_readable and not (command.what == "scan" and found.scan == "waiting"):
        fact = "its scan refused it" if found.scan == "refused" else "its scan is not done yet"
        return _refused("blocked", "read", id, fact, "Nobody may read it before.")
    return Decision((e.ContentRead(command.number, command.what, now, origin.principal),), "read")


def extract(id: bytes, state: Document, command: c.RecordExtraction, origin: Origin, now: int) -> Verdict:
    found = _version("extract fields of", id, state, command.number)
    if isinstance(found, Rejection):
        return found
    if found.extraction == "done":
        return Decision((), "replayed", keeps=False)
    if command.by and found.status != "pending":
        return Decision((), "late", keeps=False)  # whoever decided on it saw other fields
    entry = e.FieldsExtracted(
        command.number, now, command.by or origin.principal, command.extracted, command.confidence, command.is_settled
    )
    return Decision((entry,), "extracted")


def fail_extraction(id: bytes, state: Document, command: c.FailExtraction, now: int) -> Verdict:
    found = _version("extract fields of", id, state, command.number)
    if isinstance(found, Rejection):
        return found
    if found.extraction != "waiting":
        return Decision((), "replayed", keeps=False)
    return Decision((e.ExtractionFailed(command.number, now, command.code),), "failed")


def scan(id: bytes, state: Document, command: c.RecordScan, now: int) -> Verdict:
    found = _version("scan", id, state, command.number)
    if isinstance(found, Rejection):
        return found
    if found.scan != "waiting":
        return Decision((), "replayed", keeps=False)
    return Decision((e.BlobScanned(command.number, now, command.is_clean, command.code),), "scanned")


def _received(number: int, new: c.NewVersion, origin: Origin, now: int) -> e.VersionReceived:
    return e.VersionReceived(
        number, now, origin.principal, origin.behind, new.source, new.details, new.data, new.blob, new.valid_from,
        new.valid_until, new.is_scanned, new.is_extracted, new.correlation,
    )  # fmt: skip


def _decidable(do: str, id: bytes, state: Document, number: int, *, or_current: bool = False) -> Version | Rejection:
    """The version that a decision is about: the newest one, or the one that is evidence now."""
    found = _version(do, id, state, number)
    if isinstance(found, Rejection):
        return found
    if state.superseded_at:
        return _refused("wrong_state", do, id, f"document '{state.superseded_by}' has taken its place")
    is_current = or_current and state.current is not None and state.current.number == number
    if number != len(state.versions) and not is_current:
        newest = len(state.versions)
        fact = f"version {newest} arrived after version {number}"
        return _refused("wrong_state", do, id, fact, f"Look at version {newest} and decide on it.")
    return found


def _version(do: str, id: bytes, state: Document, number: int) -> Version | Rejection:
    if 0 < number <= len(state.versions):
        return state.versions[number - 1]
    known = f"there are {len(state.versions)}" if state.versions else "it has none yet"
    return _refused("not_found", do, id, f"it has no version {number}: {known}")


def _may_decide(do: str, id: bytes, version: Version, rule: c.DecisionRule, origin: Origin) -> Rejection | None:
    if (refusal := _belongs(do, id, rule, origin)) is not None:
        return refusal
    if rule.four_eyes and {version.by, *version.behind} & set(origin.names):
        fact = f"'{origin.principal}' handed version {version.number} in and its type asks for four eyes"
        return _refused("forbidden", do, id, fact, "Let somebody else decide.")
    return None


def _belongs(do: str, id: bytes, rule: c.DecisionRule, origin: Origin) -> Rejection | None:
    """Why who asks is not among those who decide on documents of the type; None when they are."""
    if origin.principal.startswith(AGENT) and not rule.agents:
        fact = f"'{origin.principal}' is an agent"
        return _refused("forbidden", do, id, fact, "Let a person decide, or declare verify: {agents: true}.")
    if rule.groups and not set(rule.groups) & set(origin.groups):
        fact = f"'{origin.principal}' belongs to none of the groups {', '.join(rule.groups)}"
        return _refused("forbidden", do, id, fact, "Let somebody of them decide.")
    return None


def _refused(code: str, do: str, id: bytes, fact: str, hint: str = "") -> Rejection:
    return Rejection(code, do, "document", id_text(id), fact, hint)  # type: ignore[arg-type]
