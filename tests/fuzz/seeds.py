"""Where fuzzing starts from: whole inputs of every parser, made from the fixtures of the other tests."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from perdure.payload import Envelope, TrailEntry, pack
from perdure.store.audit import document_of
from perdure.store.seals.seal import pack as pack_heads
from perdure.store.signing_keys import key_id_of, public_pem
from tests.app.compliance_export.exported_store import exporting
from tests.replay.make import golden
from tests.store.audit.mixed_store import MACHINES, fill, open_world

FIXTURES = Path(__file__).resolve().parents[1] / "verbs" / "fixtures"
MODELS = FIXTURES.parents[1] / "bpmn" / "xml" / "models"
DIGEST = "sha256:" + "0" * 64

VERBS = """
- name: kyc.open-case
  version: 1
  description: Open a case
  sentences: {step: "Open a {case_type} case for {entity}", clarify: {entity: "Which entity?"}}
  index: [entity]
  consequence: requires_confirmation
  input_schema:
    required: [entity]
    properties: {entity: {type: string}, case_type: {type: string, enum: [new-client, review]}, n: {type: integer}}
  output_schema: {required: [case_id], properties: {case_id: {type: string}}}
  execution:
    kind: durable
    correlation: {key: $entity}
    policy: {timeout: P14D, escalation: kyc.senior}
    flags: {orch_ok: {type: boolean, initial: false}, orch_o: {type: enum, values: [a, b], initial: a}}
- name: kyc.senior
  description: A senior decides
  execution: {kind: durable}
- name: kyc.score
  description: Score
  execution: {kind: sync, effects: none, retry: {max_attempts: 3, backoff: linear, base_delay: PT2S}}
"""
CONFIGURATION = """
store: sqlite:///perdure.db
engine: embedded
definitions: [definitions, more.yaml]
handlers: [handlers]
environment: {"kyc.*": mock::instant_complete}
retention: {payloads: P30D}
seal: {key_file: perdure.seal.key, every: PT10S}
"""
EXPRESSIONS = """;; a comment
(kyc.open-case :entity "All\\"ianz \\u00e9" :case-type "review" :n -1.5e3 :as @case :after [@a])
(kyc.score :of @case.entity :list [1 2.5 true nil {:a 1 :b [@case]}] :call (kyc.senior :x false))
"""

PROGRAM = """# a comment
LET case = EXEC kyc.open-case(entity: $client, case-type: "review", n: 3) GATE "ops"
LET score = EXEC score() AFTER case ON FAILURE continue  # why
IF case.case_id == "c-\\u00e9" and not (score.x in [1, 2.5, null] or score.list[0].y) THEN
    EXEC kyc.open-case(entity: case.case_id, n: -1)
    # the end
ELSE
    EXEC kyc.senior()
END
"""
CALLS = b"""[{"verb": "kyc.open-case", "name": "case", "args": {"entity": {"$": "client"}, "n": 3}, "gate": "ops"},
 {"verb": "open-case", "args": {"entity": {"@": "case.case_id"}}, "after": ["case"], "on_failure": "ask"}]"""


def _verbs() -> list[bytes]:
    return [VERBS.encode(), *(path.read_bytes() for path in sorted(FIXTURES.rglob("*.y*ml")))]


def _configurations() -> list[bytes]:
    return [
        CONFIGURATION.encode(),
        b"store: postgresql://a@b/c\nenvironment: test.yaml\n",
        b"retention: {payloads: forever}",
    ]


def _command_lines() -> list[bytes]:
    call = b'(kyc.open-case :entity "Allianz" :case-type "review" :n 3)'
    return [call, b"entity=Allianz\nn=3\ncase-type=review", b'{"case_id": "c-1", "n": [1, 2.5, null]}', b"PT2.5S"]


def _words() -> list[bytes]:
    id = b"01h8xyz0abcdefghjkmnpqrstv"
    return [id, b"P1DT12H3M2.5S", b"P3W", DIGEST.encode(), b"2026-01-02T03:04:05.678+01:00", b"postgresql://u:p@h:1/d"]


def _payloads() -> list[bytes]:
    return [
        b'{"a":[1,-2.5,1e30,"\\u00e9",true,null],"b":{"c":{}}}',
        b"[9007199254740991,1e21,0.000001]",
        b'"\\ud83d\\ude00"',
    ]


def _envelopes() -> list[bytes]:
    trail = TrailEntry(
        at="2026-01-01T00:00:00Z", by="ada", hash_in=DIGEST, hash_out=DIGEST, job_key="j", verb="kyc.score"
    )
    whole = Envelope(
        created_at="2026-01-01T00:00:00Z", data={"a": [1, 2.5, "x"], "b": None}, last_modified_by="ada",
        schema="kyc.open-case/v1", schema_digest=DIGEST, sub_verb_trail=(trail,), trail_ref="trail:1",
    )  # fmt: skip
    return [pack(whole).domain_payload.encode()]


def _golden(what: str) -> list[bytes]:
    return [bytes.fromhex(moment[what]) for journal in golden(1).values() for moment in journal]


def _completions() -> list[bytes]:
    return [
        b'{"key":"case-7","result":{"case_id":"c-1"}}',
        b'{"key":"k","status":"failed","error":"no","code":"x","failure_class":"transient_external","verb":"kyc.senior"}',
    ]


@lru_cache
def _exports() -> list[bytes]:
    return asyncio.run(_documents())


async def _documents() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_world(f"sqlite:///{folder}/store.db") as world:
            await fill(world)
            await world.seal()
            keys = world.key.public_keys
            return [await document_of(world.store, MACHINES, id, keys) for id in world.calls.values()]


@lru_cache
def _compliance_documents() -> list[bytes]:
    return asyncio.run(_told())


async def _told() -> list[bytes]:
    async with exporting() as world:
        calls = [await world.carried(), await world.escalated(), await world.amended()]
        await world.seal()
        whole = [await world.export(call.id) for call in calls]
        return [*whole, await world.export(calls[2].id, is_page=True)]


def _keys() -> list[bytes]:
    private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = private.public_key().public_bytes_raw()
    assert key_id_of(public)
    return [private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), public_pem(public)]


def _seals() -> list[bytes]:
    rows = [(n, bytes([n] * 16), n, bytes(32)) for n in range(1, 5)]
    return [pack_heads(rows[:count])[0] for count in (1, 4)]


def _conditions() -> list[bytes]:
    return [
        b"orch_review_outcome = 'approved' and not orch_escalated",
        b'=orch_n >= 3 and (orch_ok = true or orch_s != "\\u00e9")',
        b"${orch_ok == true && orch_n < -7}",
    ]


def _scenarios() -> list[bytes]:
    folder = FIXTURES.parents[2] / "examples" / "kyc" / "scenarios"
    return [path.read_bytes() for path in sorted(folder.rglob("*.yaml"))]


def _instances() -> list[bytes]:
    journals = [journal for kind in ("instance", "process") for journal in golden(1, kind).values()]
    return [bytes.fromhex(moment[what]) for journal in journals for moment in journal for what in ("state", "record")]


SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "verbs": _verbs,
    "overrides": lambda: [b'{"kyc.*": "mock::park", "kyc.score": {"handler": "mock::instant_complete", "result": {}}}'],
    "configuration": _configurations,
    "expressions": lambda: [EXPRESSIONS.encode()],
    "programs": lambda: [
        PROGRAM.encode(),
        b'(kyc.open-case :entity $client :as @c)\n(kyc.senior :after [@c] :gate "ops")',
    ],
    "calls": lambda: [CALLS],
    "command_line": _command_lines,
    "words": _words,
    "models": lambda: [path.read_bytes() for path in sorted(MODELS.glob("*.bpmn"))],
    "conditions": _conditions,
    "scenarios": _scenarios,
    "instances": _instances,
    "payload": _payloads,
    "envelope": _envelopes,
    "states": lambda: _golden("state"),
    "records": lambda: _golden("record"),
    "completions": _completions,
    "documents": _compliance_documents,
    "exports": _exports,
    "keys": _keys,
    "seals": _seals,
}
