"""The engine's share of a durable verb: one sealed envelope, its hash, and the flags that the contract declares."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from typing import Any

import pytest

from perdure import Call, Result
from perdure.app.compliance_export import export_document
from tests.engines.embedded.carried_world import carried, settled

TURNS = 23
SECRET = "Allianz GmbH, Königinstraße 28"
VERBS = """
- {name: d.note, execution: {kind: sync, effects: none}}
- name: d.open
  version: 2
  input_schema: {properties: {entity: {type: string}}}
  output_schema: {properties: {turn: {type: integer}}}
  execution:
    kind: durable
    process: opening
    sub_verbs: [d.note]
    flags: {orch_noted: {type: boolean, initial: false}, orch_sub_verb_count: {type: integer, initial: 0}}
"""
TASKS = [f"t{number}" for number in range(1, TURNS + 1)]
MODEL = "\n".join(
    ["== opening", "start s", *(f"service {each} d.note" for each in TASKS), "end e", " > ".join(["s", *TASKS, "e"])]
)


class Notes:
    """Counts turns and keeps the key that each attempt was given."""

    def __init__(self, flag: str = "orch_noted") -> None:
        self.flag, self.keys = flag, list[str]()

    async def note(self, call: Call) -> Result:
        self.keys.append(call.idempotency_key)
        return Result({"turn": call.args.get("turn", 0) + 1}, flags={self.flag: True})


def envelope_of(document: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The last envelope of the exported instance, and the hash that the engine has of it."""
    (chain,) = [each for each in document["chains"] if each["kind"] == "instance"]
    (head,) = [each["hash_out"] for each in document["frames"] if each["where"] == TASKS[-1]]
    (packed,) = [b64decode(each["data"]) for each in chain["payloads"] if each["hash"] == head]
    assert head == f"sha256:{hashlib.sha256(packed).hexdigest()}", "the hash is that of the exact bytes"
    return json.loads(packed), head


@pytest.mark.both_stores
@pytest.mark.req("V5")
async def test_the_envelope_says_its_schema_its_last_writer_its_last_twenty_changes_and_where_all_are(
    store_url: str,
) -> None:
    async with carried(store_url, VERBS, MODEL, {"d.note": Notes().note}) as sandbox:
        call = await settled(sandbox, "d.open", {"entity": SECRET})
        envelope, _ = envelope_of(json.loads(await export_document(sandbox, call.id, {})))
        assert envelope["schema"] == "d.open/v2"
        assert envelope["data"] == {"entity": SECRET, "turn": TURNS}
        canonical = json.dumps(envelope["data"], ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
        assert envelope["schema_hash"] == f"sha256:{hashlib.sha256(canonical).hexdigest()}"
        assert (envelope["last_modified_by"], envelope["created_at"][:4]) == ("d.note", "2026")
        kept = [each["job_key"].split("/")[1] for each in envelope["sub_verb_trail"]]
        assert kept == TASKS[-20:], "the envelope keeps the last twenty"
        path, _, query = envelope["trail_ref"].partition("?")
        assert (path, query) == (f"calls/{call.id}/outcome-events", "step=1")
        stream = [each async for each in sandbox.outcome_events(call.id, step=1)]
        assert [each.event for each in stream].count("StepCompleted") == TURNS, "the stream it names has all"


OPEN = """
- {name: d.note, execution: {kind: sync, effects: none}}
- name: d.open
  input_schema: {properties: {numbers: {type: array}, string: {type: string}, literals: {type: array}}}
  execution: {kind: durable, process: opening, sub_verbs: [d.note]}
"""
RFC = {
    "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
    "literals": [None, True, False],
}
PRINTED = (
    '"data":{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
)


@pytest.mark.both_stores
@pytest.mark.req("V7")
@pytest.mark.parametrize("order", [1, -1])
async def test_the_document_of_rfc_8785_is_carried_in_the_bytes_that_the_rfc_prints(store_url: str, order: int) -> None:
    async def note(call: Call) -> dict[str, Any]:
        return {}

    async with carried(store_url, OPEN, MODEL, {"d.note": note}) as sandbox:
        call = await settled(sandbox, "d.open", dict([*RFC.items()][::order]))
        document = json.loads(await export_document(sandbox, call.id, {}))
        (chain,) = [each for each in document["chains"] if each["kind"] == "instance"]
        packed = b64decode(chain["payloads"][0]["data"])
        assert PRINTED in packed.decode()


@pytest.mark.both_stores
@pytest.mark.req("V6")
async def test_an_engine_is_given_the_sealed_data_its_hash_and_declared_flags_and_nothing_else(store_url: str) -> None:
    async with carried(store_url, VERBS, MODEL, {"d.note": Notes().note}) as sandbox:
        call = await settled(sandbox, "d.open", {"entity": SECRET})
        (row,) = await sandbox.instances.list()
        told = [each async for each in sandbox.instances.events(row.id)]
        begun = told[0].data
        assert begun["flags"] == {"orch_noted": False, "orch_sub_verb_count": 0} and begun["head"].startswith("sha256:")
        assert not [each.entry for each in told if SECRET in json.dumps(each.data, ensure_ascii=False)]
        shown = await sandbox.instances.get(row.id)
        assert shown.flags == {"orch_noted": True, "orch_sub_verb_count": TURNS}
        assert call.state == "completed"


@pytest.mark.req("V6")
@pytest.mark.parametrize("flag", ["orch_other", "orch_sub_verb_count"])
async def test_a_flag_that_no_contract_declares_or_that_the_engine_counts_is_not_written(
    store_url: str, flag: str
) -> None:
    async with carried(store_url, VERBS, MODEL, {"d.note": Notes(flag).note}) as sandbox:
        await settled(sandbox, "d.open", {"entity": SECRET})
        (row,) = await sandbox.instances.list()
        shown = await sandbox.instances.get(row.id)
        assert [token.element for token in shown.tokens] == ["t1"]
        assert flag in str(shown.incidents[0])
        assert shown.flags == {"orch_noted": False, "orch_sub_verb_count": 0}


@pytest.mark.both_stores
@pytest.mark.req("V15")
async def test_the_frame_of_a_job_says_what_ran_under_which_key_with_what_going_in_and_out(store_url: str) -> None:
    notes = Notes()
    async with carried(store_url, VERBS, MODEL, {"d.note": notes.note}) as sandbox:
        call = await settled(sandbox, "d.open", {"entity": SECRET})
        document = json.loads(await export_document(sandbox, call.id, {}))
        (row,) = await sandbox.instances.list()
        frames = [each for each in document["frames"] if each["verb"] == "d.note"]
        assert [each["where"] for each in frames] == TASKS and {each["of"] for each in frames} == {row.id}
        assert [each["hash_in"] for each in frames[1:]] == [each["hash_out"] for each in frames[:-1]]
        assert {(each["attempt"], each["outcome"]) for each in frames} == {(1, "completed")}
        assert all(each["started_at"] <= each["ended_at"] for each in frames)
        assert [each["flags"]["orch_sub_verb_count"] for each in frames] == list(range(1, TURNS + 1))
        trail = [each["job_key"] for each in document["trail"] if each["verb"] == "d.note"]
        assert notes.keys == trail and len(set(trail)) == TURNS, "the handler has the key of its job"
