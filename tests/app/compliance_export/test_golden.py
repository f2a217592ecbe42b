"""Every history ever kept can be told: calls, plans and instances, in every version of their entries."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from perdure.app.compliance_export.document import Chain, RecordKept
from perdure.app.compliance_export.document_composer import compose, written
from perdure.app.compliance_export.evidence import Evidence
from perdure.app.compliance_export.journal_replay import KINDS, ChainReplay
from perdure.app.compliance_export.verification import check_document
from perdure.journal import genesis, link
from perdure.payload import digest_text
from perdure.sources import id_text
from tests.replay.make import FOLDER, golden

ID = sha256(b"golden").digest()[:16]


def journals() -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    for path in sorted(FOLDER.glob("*.json")):
        kind, _, version = path.stem.rpartition("-")
        if kind in KINDS:
            for name, moments in golden(int(version), kind).items():
                yield f"{path.stem} {name}", kind, moments


def chain_of(kind: str, bodies: list[bytes]) -> Chain:
    """A chain of its own from the bytes of records."""
    records, previous = [], genesis("default", kind, ID)
    for sequence, body in enumerate(bodies, 1):
        previous = link(previous, body)
        text = base64.b64encode(body).decode()
        records.append(RecordKept(sequence=sequence, body=text, hash=digest_text(previous)))
    return Chain(id=id_text(ID), tenant="default", kind=kind, records=records, payloads=[], seals=[])


def told(chain: Chain) -> bytes:
    return written(compose(Evidence(chain.id, {chain.id: chain}, {}, {}, {})).document)


@pytest.mark.req("V30")
@pytest.mark.parametrize(("kind", "moments"), [pytest.param(*rest, id=name) for name, *rest in journals()])
def test_a_kept_history_is_told_and_its_document_lacks_nothing_but_data(kind: str, moments: list[Any]) -> None:
    chain = chain_of(kind, [bytes.fromhex(each["record"]) for each in moments])
    data = told(chain)
    document = json.loads(data)
    assert [each["sequence"] for each in document["history"]] == [*range(1, len(moments) + 1)]
    # No data and no children are kept with golden journals; nothing else may be missing.
    assert {each.code for each in check_document(data).findings} <= {"AUD011", "AUD075"}
    if kind == "runbook":
        chronicle = ChainReplay(chain)
        chronicle.replay()
        steps = document["steps"]
        assert [each["state"] for each in steps] == [step.status for step in chronicle.state.steps]
        crossed = {(each["where"], each["what"]): each["after"] for each in document["data"]}
        assert {crossed.get((f"step {each['number']}", "result"), "") for each in steps} == {
            each["result"] for each in steps
        }
