"""Scans before anybody reads, extraction with a confidence, and the person who is asked when it is low."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.errors import DefinitionError, RejectedError
from perdure.testing import Sandbox
from perdure.verbs import Call
from perdure.verbs.loader import load_text
from tests.documents.papers import PDF

DEFINITIONS = """
verbs:
- name: lab.scan
  args: [{name: reference, type: string, required: true}, {name: media-type, type: string}]
- name: lab.read
  args: [{name: reference, type: string, required: true}, {name: document-type, type: string}]
documents:
  passport:
    content: {media_types: [application/pdf]}
    data_schema: {properties: {note: {type: string}}}
    extracted_schema: {properties: {name: {type: string, required: true}}}
    extraction: {verb: lab.read, confidence: 0.8}
    scan: lab.scan
  letter:
    content: {media_types: [application/pdf]}
"""


class Lab:
    """What the verbs answer, and what they were able to read."""

    def __init__(self, scan: Any, fields: Any) -> None:
        self.answers, self.read = {"lab.scan": scan, "lab.read": fields}, list[Any]()

    async def __call__(self, call: Call) -> Any:
        self.read.append(await call.resolve(f"{call.args['reference']}/content"))
        answer = self.answers[call.verb]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def open(self, url: str, folder: Path) -> Any:
        bound = {"lab.scan": self, "lab.read": self}
        return Sandbox.open(url, definitions=load_text(DEFINITIONS), handlers=bound, blobs=folder / "blobs")


async def handed_in(perdure: Sandbox) -> str:
    blob = await perdure.documents.upload(PDF)
    return (await perdure.documents.create("passport", "anna", blob=blob.blob)).id


@pytest.mark.both_stores
@pytest.mark.req("T10")
async def test_a_scanned_version_is_read_by_its_extraction_and_then_by_people(store_url: str, tmp_path: Path) -> None:
    lab = Lab({"clean": True}, {"fields": {"name": "Anna Müller"}, "confidence": 0.9})
    async with lab.open(store_url, tmp_path) as perdure:
        id = await handed_in(perdure)
        with pytest.raises(RejectedError, match="scan is not done yet"):
            await perdure.documents.content(id, 1)
        with pytest.raises(RejectedError, match="scan is not done yet"):
            await perdure.documents.verify(id, 1)
        await perdure.run_until_idle()
        (version,) = (await perdure.documents.get(id)).versions
        assert (version.scan, version.extraction, version.confidence, lab.read) == ("done", "done", 0.9, [PDF, PDF])
        assert (await perdure.documents.content(id, 1)).extracted == {"name": "Anna Müller"}
        assert [each.id for each in await perdure.documents.find(text="muller")] == [id]
        assert (await perdure.documents.verify(id, 1)).status == "verified"


@pytest.mark.req("T10")
async def test_fields_of_low_confidence_become_a_task_for_a_person(tmp_path: Path) -> None:
    lab = Lab({"clean": True}, {"fields": {"name": "Anma"}, "confidence": 0.5})
    async with lab.open("sqlite://", tmp_path) as perdure:
        id = await handed_in(perdure)
        await perdure.run_until_idle()
        assert (await perdure.documents.get(id)).versions[0].extraction == "waiting"
        (task,) = await perdure.tasks.list()
        await perdure.tasks.complete(task.key, {"fields": {"name": "Anna"}})
        await perdure.run_until_idle()
        held = (await perdure.documents.get(id)).versions[0]
        assert (held.extraction, held.confidence) == ("done", 1.0)
        assert (await perdure.documents.content(id, 1)).extracted == {"name": "Anna"}
        assert await perdure.documents.find(text="anma") == []


@pytest.mark.req("V36")
async def test_who_corrected_the_fields_does_not_verify_under_four_eyes(tmp_path: Path) -> None:
    lab = Lab({"clean": True}, {"fields": {"name": "Anma"}, "confidence": 0.5})
    text = DEFINITIONS.replace("    scan: lab.scan\n", "    scan: lab.scan\n    verify: {four_eyes: true}\n")
    bound = {"lab.scan": lab, "lab.read": lab}
    async with Sandbox.open("sqlite://", definitions=load_text(text), handlers=bound, blobs=tmp_path) as perdure:
        id = await handed_in(perdure)
        await perdure.run_until_idle()
        eve, bob = perdure.acting(principal="eve"), perdure.acting(principal="bob")
        (task,) = await eve.tasks.list()
        await eve.tasks.complete(task.key, {"fields": {"name": "Eve"}})
        await perdure.run_until_idle()
        with pytest.raises(RejectedError, match="four eyes"):
            await eve.documents.verify(id, 1)
        assert (await bob.documents.verify(id, 1)).status == "verified"


@pytest.mark.both_stores
@pytest.mark.req("T10")
async def test_content_that_a_scan_holds_back_is_no_document_of_another_type(store_url: str, tmp_path: Path) -> None:
    lab = Lab({"clean": False, "code": "MALWARE"}, {"fields": {"name": "x"}})
    async with lab.open(store_url, tmp_path) as perdure:
        id = await handed_in(perdure)
        blob = (await perdure.documents.upload(PDF)).blob
        with pytest.raises(RejectedError, match="a scan is not done"):
            await perdure.documents.create("letter", "anna", blob=blob)
        await perdure.run_until_idle()
        assert (await perdure.documents.get(id)).versions[0].scan == "refused"
        with pytest.raises(RejectedError, match="refused by a scan"):
            await perdure.documents.create("letter", "anna", blob=blob)


@pytest.mark.req("T10")
@pytest.mark.parametrize("answer", [{"clean": False, "code": "MALWARE"}, {}])
async def test_what_a_scan_does_not_let_pass_is_read_by_nobody(answer: Any, tmp_path: Path) -> None:
    lab = Lab(answer, {"fields": {"name": "x"}})
    async with lab.open("sqlite://", tmp_path) as perdure:
        id = await handed_in(perdure)
        await perdure.run_until_idle()
        assert (await perdure.documents.get(id)).versions[0].scan == "refused"
        assert lab.read == [PDF], "nothing is extracted from it"
        with pytest.raises(RejectedError, match="its scan refused it"):
            _ = [part async for part in perdure.documents.download(id, 1)]
        assert (await perdure.documents.reject(id, 1, "MALWARE")).status == "rejected"


@pytest.mark.req("T10")
async def test_an_extraction_that_fails_leaves_the_document_to_people(tmp_path: Path) -> None:
    lab = Lab({"clean": True}, {"fields": {"number": 7}})
    async with lab.open("sqlite://", tmp_path) as perdure:
        id = await handed_in(perdure)
        await perdure.run_until_idle()
        assert (await perdure.documents.get(id)).versions[0].extraction == "refused"
        assert (await perdure.documents.verify(id, 1)).status == "verified"


def test_a_type_that_names_an_unknown_verb_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"names the verb 'lab.skan', which is not declared"):
        load_text(DEFINITIONS.replace("scan: lab.scan", "scan: lab.skan"))
