"""Writes the reference of compliance documents from structs: `python -m tests.app.compliance_export.reference`."""

from __future__ import annotations

import inspect
import types
import typing
from pathlib import Path
from typing import Any

import msgspec

from perdure.app.compliance_export import document
from perdure.app.compliance_export.document import FORMAT, Document
from perdure.app.compliance_export.evidence_collection import MAX_BYTES, MAX_CHAINS, MAX_RECORDS
from perdure.app.compliance_export.json_diff import MAX_CHANGES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "compliance-document.md"
EVIDENCE = ("Chain", "RecordKept", "PayloadKept", "SealKept", "ProofStep", "VerbKept", "ModelKept")
MEANINGS = {
    "after": "what stands there afterwards: a hash, or the value at the path",
    "asked": "starts, progress, completions, messages and answers that came from outside, by whom and by which key",
    "at": "when",
    "attempt": "which attempt, from 1",
    "before": "what stood there before: a hash, or the value at the path",
    "body": "the record's bytes as stored, base64",
    "business_key": "the key that groups instances; for one that carries a step, the id of the call",
    "by": "the principal who did it",
    "by_key": "the id of the key by which they asked; empty where there was none, or the record is older",
    "carrier": "the id of the instance that carries the step; empty when none does",
    "chains": "the evidence: one chain for the call and each part of it, in the order they began",
    "changes": "what changed, in the order of the paths",
    "code": "a stable code",
    "command": "the command that caused the record",
    "cursor": "the position of the journal the seal reaches to",
    "data": "what happened to the data, crossing by crossing; of a payload: its bytes, base64",
    "definition": "the hash it was pinned by; where the definition is kept: the definition itself",
    "definitions": "the deployed processes that instances followed",
    "details": "the fields of the entry",
    "digest": "`sha256:` of the canonical JSON of everything but the digest",
    "element": "the id of an element of the model",
    "ended_at": "when it ended; null while it has not",
    "entered_at": "when the token came",
    "entries": "what happened, in its order",
    "erased_at": "when the data was erased",
    "error": "a code and words; empty when there was none",
    "fields": "the fields of the entry that are not at their defaults",
    "flags": "the flags as they are now",
    "flow": "the sequence flow the token came by",
    "format": "the format of the document",
    "frames": "every execution of a handler",
    "hash": "`sha256:` of the bytes, of a record of the hash before it and its bytes; of a seal or a proof in hex",
    "hash_in": "the hash of the data before",
    "hash_out": "the hash of the data after",
    "history": "every record in words",
    "how": "how it ended; empty while it has not",
    "id": "the id, 26 letters",
    "incidents": "what was stuck, and how it went on",
    "input": "the hash of what its verb was asked with",
    "is_erased": "whether the data was erased, so that no change can be told",
    "job_key": "the key of the job, task or message that brought it",
    "key": "the key it was for",
    "key_id": "which key signed it",
    "kind": "of a chain: runbook or instance; of a change: added, removed or changed",
    "left_at": "when the token went; null while it stands there",
    "message_id": "the id of the message",
    "messages": "what came from outside",
    "name": "its name; empty when it has none",
    "number": "its number, from 1",
    "of": "the id of the chain it belongs to",
    "event": "the word of the table of outcome events",
    "outcome_events": "what became of each step, in the words of the table of outcome events",
    "refs": "the engine's own keys of what it is about",
    "sub_verb": "the verb of the process's task that it is about; empty when it is about none",
    "omitted": f"how many more changes there are than the {MAX_CHANGES:,} that are told",
    "order": "the order of commits: of each record, oldest first, its chain's place in `chains`, from 0",
    "outcome": "started, completed, failed, incident, discarded, or how its token left",
    "parent": "what began the instance: `step:` or `node:` with an id and a number; empty when nobody did",
    "path": "of an instance: every stay of a token, in the order they began; of a change: a JSON pointer",
    "payload": "the hash of what it brought, where the record names it",
    "payloads": "the data by its hashes, ordered by them; none when it was erased",
    "people": "what people did and were asked",
    "picture": "the diagram with the way taken, as SVG",
    "previous": "the hash of the seal before",
    "principal": "who asked, or who sent it",
    "process": "the id of the process",
    "processes": "the instances, and the way each took",
    "proof": "the way from the head to the root",
    "public_keys": "the keys in force at each seal by their ids, hexadecimal: for convenience, not for trust",
    "key_changes": "signed changes of the seal key, where there were any: who trusts either key trusts both",
    "raised_at": "when it was stuck",
    "reason": "the reason that was given",
    "records": "the records from the first, without a gap",
    "resolved_at": "when it went on; null while it has not",
    "result": "the hash of what came of it; empty while nothing has",
    "root": "the Merkle root over the heads under the seal",
    "seals": "the seals that list the chain",
    "sentence": "the step in words, as its definition says them",
    "sentences": "what was asked, one sentence per step, at most 100",
    "sequence": "the number of the record",
    "side": "left or right",
    "signature": "Ed25519 over the hash",
    "started_at": "when it began",
    "state": "its state",
    "steps": "every step of the call, and of the calls it was escalated to",
    "summary": "what a reader wants to know first",
    "tenant": "whose it is",
    "text": "what happened and what would help",
    "told": "the summary, sentence by sentence",
    "tombstones": "the data that was erased",
    "trace": "the trace of the request",
    "trail": "every sub-verb's passage over the data",
    "verb": "the verb",
    "verbs": "the definitions of the verbs that steps and tasks were pinned to",
    "version": "the version of the verb or process",
    "what": "input, result or head; of an act: its entry; of an arrival: what kind it is",
    "where": "the step or the element",
    "who": "who acted; empty for what was only put before people",
    "xml": "the model as BPMN XML, told from the definition",
}
HEAD = f"""# Compliance documents

What `perdure audit export ID -o FILE` writes: the format `{FORMAT}`, canonical JSON (RFC 8785) in UTF-8. The page
(`-o FILE.html`) has the same document inside, in a data block with the id `perdure-document`.
[How to write and check one](../how-to/compliance-export.md).

A document has two halves. The **evidence** (`chains`, `verbs`, `definitions`) is what was stored, byte for byte.
**Everything else is told from it**, by one function without input of any other kind: whoever checks a document tells
it anew and compares. Times are ISO 8601 in UTC with microseconds. An empty text stands for what is not there.

At most {MAX_CHAINS:,} chains, {MAX_RECORDS:,} records and {MAX_BYTES // 2**20} MiB of records and data make a document.
"""


def page() -> str:
    structs = [each for _, each in inspect.getmembers(document, inspect.isclass) if issubclass(each, document.Part)]
    told = [each for each in structs if each not in (document.Part, Document) and each.__name__ not in EVIDENCE]
    kept = [getattr(document, name) for name in EVIDENCE]
    order = list(vars(document))
    told.sort(key=lambda each: order.index(each.__name__))
    parts = [HEAD, "## The document\n", _table(Document), "## Evidence\n", *map(_struct, kept)]
    return "\n".join([*parts, "## What is told\n", *map(_struct, told)]).rstrip() + "\n"


def _struct(kind: Any) -> str:
    return f"### {kind.__name__}\n\n{inspect.cleandoc(kind.__doc__)}\n\n{_table(kind)}"


def _table(kind: Any) -> str:
    hints = typing.get_type_hints(kind)
    rows = [
        f"| `{each.name}` | {_type(hints[each.name])} | {MEANINGS[each.name]} |"
        for each in msgspec.structs.fields(kind)
    ]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows, ""])


def _type(hint: Any) -> str:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return "object"
    if origin is types.UnionType:
        return " or ".join("null" if each is type(None) else _type(each) for each in arguments)
    if inspect.isclass(hint) and issubclass(hint, document.Part):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return {str: "text", int: "number", bool: "true or false"}.get(hint, "any JSON")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
