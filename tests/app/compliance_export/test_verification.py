"""A document is believed only as far as its evidence goes: whatever was changed in it is found."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.app.compliance_export import check_document, is_document, page_of
from perdure.payload import canonical
from perdure.store.signing_keys import SigningKey
from tests.app.compliance_export.exported_store import exporting

Documents = tuple[SigningKey, dict[str, bytes]]


@pytest.fixture(scope="module")
def documents() -> Documents:
    return asyncio.run(_documents())


async def _documents() -> Documents:
    async with exporting() as world:
        calls = {
            "carried": await world.carried(), "escalated": await world.escalated(), "amended": await world.amended(),
            "erased": await world.erased(),
        }  # fmt: skip
        await world.seal()
        return world.key, {name: await world.export(call.id) for name, call in calls.items()}


NAMES = ["carried", "escalated", "amended", "erased"]


@pytest.mark.req("V30")
@pytest.mark.parametrize("name", NAMES)
def test_a_document_verifies_with_nothing_but_itself_and_a_key(documents: Documents, name: str) -> None:
    key, by_name = documents
    for data in (by_name[name], page_of(by_name[name])):
        assert is_document(data)
        verdict = check_document(data, key.public_keys, require_sealed=True)
        assert (verdict.findings, verdict.notes) == ([], [])
        assert verdict.records and verdict.seals


@pytest.mark.req("V30")
def test_without_a_key_it_says_that_it_trusted_the_one_inside(documents: Documents) -> None:
    verdict = check_document(documents[1]["carried"])
    assert verdict.findings == []
    assert [note for note in verdict.notes if "only against the key inside" in note]


@pytest.mark.req("V30")
@given(data=st.data())
@settings(deadline=None, max_examples=150)
def test_a_changed_byte_anywhere_is_found(documents: Documents, data: st.DataObject) -> None:
    document = documents[1][data.draw(st.sampled_from(NAMES))]
    if data.draw(st.booleans()):
        document = page_of(document)
    changed = bytearray(document)
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] ^= 1 << data.draw(st.integers(0, 7))
    assert check_document(bytes(changed), documents[0].public_keys).findings


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif isinstance(value, list) and value:
        for place, each in enumerate(value):
            yield from leaves(each, (*path, place))
    else:
        yield path


def mended(content: dict[str, Any]) -> bytes:
    """The document with a digest that fits again: who changes it can do that, too."""
    content.pop("digest", None)
    return canonical({**content, "digest": f"sha256:{sha256(canonical(content)).hexdigest()}"})


def other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if value:
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case None:
            return "x"
        case _:
            return {"x": 1} if isinstance(value, dict) else "x"


def at(content: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        content = content[part]
    return content


@pytest.mark.req("V30")
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_changed_value_is_found_even_when_the_digest_is_mended(
    documents: Documents, name: str, data: st.DataObject
) -> None:
    content = json.loads(documents[1][name])
    paths = [path for path in leaves(content) if path != ("digest",) and path[0] != "public_keys"]
    path = data.draw(st.sampled_from(paths))
    at(content, path[:-1])[path[-1]] = other(at(content, path))
    assert check_document(mended(content), documents[0].public_keys).findings, path


@pytest.mark.req("V30")
@pytest.mark.parametrize("name", NAMES)
def test_an_item_that_was_taken_out_is_found_or_missed(documents: Documents, name: str) -> None:
    content = json.loads(documents[1][name])
    lists: list[tuple[Any, ...]] = [(key,) for key, each in content.items() if isinstance(each, list)]
    parts = ("records", "payloads", "seals")
    lists += [("chains", place, part) for place in range(len(content["chains"])) for part in parts]
    for path in lists:
        for place in {0, len(at(content, path)) // 2, len(at(content, path)) - 1} if at(content, path) else ():
            changed = json.loads(documents[1][name])
            del at(changed, path)[place]
            verdict = check_document(mended(changed), documents[0].public_keys)
            assert verdict.findings or verdict.notes, (path, place)


@pytest.mark.req("V30")
def test_a_page_that_shows_something_else_than_its_document_is_found(documents: Documents) -> None:
    page = page_of(documents[1]["amended"])
    changed = page.replace(b"<ins>C-9</ins>", b"<ins>C-1</ins>")
    assert changed != page
    codes = [(each.code, each.place) for each in check_document(changed, documents[0].public_keys).findings]
    assert codes == [("AUD072", "page")]


def chain_of(content: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(chain for chain in content["chains"] if chain["kind"] == kind)


@pytest.mark.req("V30")
def test_what_was_changed_is_named(documents: Documents) -> None:
    key, by_name = documents

    def codes(name: str, change: Any) -> set[str]:
        content = json.loads(by_name[name])
        change(content)
        return {each.code for each in check_document(mended(content), key.public_keys).findings}

    def payload(content: dict[str, Any]) -> None:
        content["chains"][0]["payloads"][0]["data"] = base64.b64encode(b'{"case":"C-1"}').decode()

    def record(content: dict[str, Any]) -> None:
        content["chains"][0]["records"].pop(0)

    assert "AUD010" in codes("amended", payload)
    assert "AUD003" in codes("carried", record)
    assert codes("carried", lambda content: content["summary"]["told"].append("All was well.")) == {"AUD072"}
    assert codes("carried", lambda content: content["verbs"][0]["definition"].update(description="x")) >= {"AUD076"}
    assert "AUD075" in codes("carried", lambda content: content["chains"].pop(1))
    assert "AUD011" in codes("amended", lambda content: content["chains"][0]["payloads"].pop())
    assert "AUD053" in codes("erased", lambda content: content["chains"][0]["seals"][0].update(signature="00" * 64))
    assert "AUD073" in codes("carried", lambda content: content["chains"][0]["seals"][0]["proof"].pop())
    assert "AUD009" in codes("carried", lambda content: content["chains"][0].update(kind="process"))
    assert codes("carried", lambda content: content.update(format="perdure.compliance/3")) == {"AUD070"}


@pytest.mark.req("V30")
def test_a_document_sealed_by_a_stranger_is_found_with_the_right_key(documents: Documents) -> None:
    stranger = SigningKey(Ed25519PrivateKey.generate())
    content = json.loads(documents[1]["erased"])
    for seal in content["chains"][0]["seals"]:
        seal["key_id"], seal["signature"] = stranger.key_id, stranger.sign(bytes.fromhex(seal["hash"])).hex()
    content["public_keys"] = {stranger.key_id: stranger.public.hex()}
    assert check_document(mended(content)).findings == []
    assert {each.code for each in check_document(mended(content), documents[0].public_keys).findings} == {"AUD054"}


@pytest.mark.req("V30")
async def test_records_younger_than_the_last_seal_are_told_or_refused(store_url: str) -> None:
    async with exporting(store_url) as world:
        call = await world.amended()
        document = await world.export(call.id)
        verdict = check_document(document)
        assert verdict.findings == [] and "3 of 3 records are not under a seal" in verdict.notes[0]
        assert {each.code for each in check_document(document, require_sealed=True).findings} == {"AUD062"}


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"<!DOCTYPE html>", b"\xff", b'{"format":"perdure.compliance/1"}', b"[" * 10_000]
)
def test_a_file_that_is_no_document_is_called_so(data: bytes) -> None:
    assert [each.code for each in check_document(data).findings] == ["AUD070"]
