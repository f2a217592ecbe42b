"""Checks an exported document with nothing but the document and, if you have them, the public keys."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import Any

from perdure.access.machine import AccessMachine
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.process_machine import ProcessMachine
from perdure.payload import canonical
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import parse_id
from perdure.store.audit.call_export import FORMAT, digest_of, history_item, summary_of
from perdure.store.audit.chain_walk import Walk
from perdure.store.audit.erased_ids import Machines
from perdure.store.audit.findings import Finding, found
from perdure.store.audit.seal_audit import check_signature
from perdure.store.seal_keys import read_changes, trusted_keys
from perdure.store.seals.merkle import Step, root_of_proof
from perdure.store.seals.seal import Leaf, Seal
from perdure.store.signing_keys import PublicKeys

PLACE = "export"
SIDES = {"left": True, "right": False}


def verify_export(
    document: bytes,
    public_keys: PublicKeys | None = None,
    *,
    machines: Machines | None = None,
    require_sealed: bool = False,
) -> list[Finding]:
    """What is wrong with a document; nothing when it is empty.

    Without public keys those inside the document are used: that shows it is whole, not who sealed it.
    """
    try:
        content = json.loads(document)
        if canonical(content) != document or content["format"] != FORMAT:
            return [found("AUD070", PLACE, f"it is not the canonical JSON of a '{FORMAT}'")]
        return _check(content, public_keys, machines or _every_machine(), require_sealed)
    except Exception as error:  # a stranger's file can be wrong in any way
        return [found("AUD070", PLACE, f"reading it gave {type(error).__name__} ({str(error)[:200]})")]


def _every_machine() -> Machines:
    """What this release knows; replaying a history needs no definitions."""
    return {each.kind: each for each in (RunbookMachine(), InstanceMachine({}), ProcessMachine(), AccessMachine())}


def _check(
    content: dict[str, Any], public_keys: PublicKeys | None, machines: Machines, require_sealed: bool
) -> list[Finding]:
    digest = content.pop("digest")
    findings = []
    if digest_of(content) != digest:
        findings.append(found("AUD071", PLACE, "something in it was changed"))
    id = parse_id(content["id"])
    machine = machines.get(content["kind"])
    if machine is None:
        return [*findings, found("AUD009", PLACE, f"'{content['kind']}' is not among {sorted(machines)}", id)]
    walk = Walk(id, content["tenant"], content["kind"], machine)
    hashes: dict[int, bytes] = {}
    for item in content["history"]:
        body, hash = base64.b64decode(item["body"], validate=True), bytes.fromhex(item["hash"])
        walk.take(item["sequence"], body, hash)
        hashes[item["sequence"]] = hash
        if walk.is_replayed and history_item(machine, item["sequence"], body, hash) != item:
            findings.append(found("AUD072", PLACE, f"record {item['sequence']}", id, item["sequence"]))
    findings += walk.findings
    if walk.is_replayed and (walk.state is None or summary_of(machine, walk.state) != content["summary"]):
        findings.append(found("AUD072", PLACE, "its summary", id))
    findings += _check_payloads(content, id, walk.hashes)
    embedded = {key_id: bytes.fromhex(key) for key_id, key in content["public_keys"].items()}
    changes = read_changes(content.get("key_changes", ()))
    keys = embedded if public_keys is None else trusted_keys(public_keys, changes)
    findings += _check_seals(content, id, hashes, keys)
    sealed = max((seal["sequence"] for seal in content["seals"]), default=0)
    if require_sealed and sealed < walk.last:
        findings.append(found("AUD062", PLACE, f"records after {sealed}", id, sealed + 1))
    return findings


def _check_payloads(content: dict[str, Any], id: bytes, known: set[bytes]) -> list[Finding]:
    findings, missing = [], set(content["summary"]["payloads"])
    for item in content["payloads"]:
        data = base64.b64decode(item["data"], validate=True)
        missing.discard(item["hash"])
        if f"sha256:{sha256(data).hexdigest()}" != item["hash"]:
            findings.append(found("AUD010", PLACE, f"the bytes kept as {item['hash']} are others", id))
        if bytes.fromhex(item["hash"].removeprefix("sha256:")) not in known:
            findings.append(found("AUD012", PLACE, f"nothing explains {item['hash']}", id))
    if content["summary"]["is_erased"] and content["payloads"]:
        findings.append(found("AUD013", PLACE, f"{len(content['payloads'])} payloads", id))
    return findings + [found("AUD011", PLACE, f"no bytes for {hash}", id) for hash in sorted(missing)]


def _check_seals(
    content: dict[str, Any], id: bytes, hashes: dict[int, bytes], public_keys: PublicKeys
) -> list[Finding]:
    findings = []
    for item in content["seals"]:
        place = f"seal {item['number']}"
        parts = {name: bytes.fromhex(item[name]) for name in ("root", "previous", "hash", "signature")}
        seal = Seal(
            item["number"], item["at"], item["cursor"], b"", parts["root"], parts["previous"], parts["hash"],
            item["key_id"], parts["signature"],
        )  # fmt: skip
        findings += check_signature(seal, public_keys, place)
        leaf = Leaf(id, item["sequence"], hashes.get(item["sequence"], b""))
        path = [Step(SIDES[step["side"]], bytes.fromhex(step["hash"])) for step in item["proof"]]
        if root_of_proof(leaf.data(), path) != seal.root:
            findings.append(found("AUD073", place, f"record {item['sequence']}", id, item["sequence"]))
    return findings
