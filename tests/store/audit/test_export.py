"""An exported call can be checked by anybody, with nothing but the file and a public key."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import RejectedError
from perdure.payload import canonical
from perdure.runbooks.machine.commands import PostProgress
from perdure.sources import Id, id_text
from perdure.store.audit import document_of, export, verify_export
from perdure.store.audit.call_export import sealed_document
from perdure.store.signing_keys import SigningKey
from tests.store.audit.mixed_store import MACHINES, World, fill, open_world


async def exported(world: World, name: str) -> bytes:
    return await document_of(world.store, MACHINES, world.calls[name], world.key.public_keys)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> tuple[SigningKey, dict[str, bytes]]:
    return asyncio.run(_documents(f"sqlite:///{tmp_path_factory.mktemp('export') / 'store.db'}"))


async def _documents(url: str) -> tuple[SigningKey, dict[str, bytes]]:
    async with open_world(url) as world:
        await fill(world)
        await world.seal()
        await world.ask(world.calls["parked"], PostProgress(1, "soon"))
        await world.seal()
        return world.key, {name: await exported(world, name) for name in world.calls}


Documents = tuple[SigningKey, dict[str, bytes]]


@pytest.mark.req("V30")
def test_every_kind_of_call_is_exported_and_verifies_offline(documents: Documents) -> None:
    key, by_name = documents
    for document in by_name.values():
        assert verify_export(document, key.public_keys, require_sealed=True) == []
        assert verify_export(document) == []


@pytest.mark.req("V30")
def test_a_document_says_who_did_what_when_and_with_which_data(documents: Documents) -> None:
    content = json.loads(documents[1]["resumed"])
    assert content["summary"]["status"] == "completed"
    assert [item["principal"] for item in content["history"]] == ["ada"] * 4
    names = [entry["name"] for item in content["history"] for entry in item["entries"]]
    assert names == [
        "CallStarted", "StepParked", "ProgressPosted", "CompletionReceived", "StepCompleted", "CompletionIgnored",
    ]  # fmt: skip
    data = {base64.b64decode(item["data"]) for item in content["payloads"]}
    assert data == {b'{"name":"resumed"}', b'{"result":"resumed"}'}


@pytest.mark.req("V30")
def test_erased_data_is_not_exported_and_the_history_is(documents: Documents) -> None:
    content = json.loads(documents[1]["erased"])
    assert content["payloads"] == []
    assert content["summary"]["is_erased"]
    assert [entry["name"] for entry in content["history"][-1]["entries"]] == ["PayloadErased"]


@pytest.mark.req("V30")
def test_a_call_that_changed_between_seals_is_proved_by_each_of_them(documents: Documents) -> None:
    assert [seal["number"] for seal in json.loads(documents[1]["parked"])["seals"]] == [1, 2]


@pytest.mark.req("V30")
@given(data=st.data())
@settings(deadline=None, max_examples=200)
def test_a_changed_byte_anywhere_in_a_document_is_found(documents: Documents, data: st.DataObject) -> None:
    document = bytearray(documents[1][data.draw(st.sampled_from(sorted(documents[1])))])
    place = data.draw(st.integers(0, len(document) - 1))
    document[place] ^= 1 << data.draw(st.integers(0, 7))
    assert verify_export(bytes(document), documents[0].public_keys)


def leaves_of(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    if isinstance(value, dict):
        return [leaf for key, each in value.items() for leaf in leaves_of(each, (*path, key))]
    if isinstance(value, list):
        return [leaf for place, each in enumerate(value) for leaf in leaves_of(each, (*path, place))]
    return [path]


@pytest.mark.req("V30")
@pytest.mark.parametrize("name", ["resumed", "stuck", "erased", "parked"])
def test_a_changed_value_is_found_even_when_the_digest_is_mended(documents: Documents, name: str) -> None:
    key, by_name = documents
    original = json.loads(by_name[name])
    for path in leaves_of({part: original[part] for part in original if part not in ("digest", "public_keys")}):
        content = json.loads(by_name[name])
        del content["digest"]
        target = content
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = changed(target[path[-1]])
        assert verify_export(sealed_document(content), key.public_keys), path


def changed(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return value[:-1] + ("0" if value[-1] != "0" else "1") if isinstance(value, str) and value else "x"


@pytest.mark.req("V30")
def test_a_document_sealed_by_a_stranger_is_found_with_the_right_keys(documents: Documents) -> None:
    stranger = SigningKey(Ed25519PrivateKey.generate())
    content = json.loads(documents[1]["completed"])
    del content["digest"]
    for seal in content["seals"]:
        seal["key_id"], seal["signature"] = stranger.key_id, stranger.sign(bytes.fromhex(seal["hash"])).hex()
    content["public_keys"] = {stranger.key_id: stranger.public.hex()}
    document = sealed_document(content)
    assert verify_export(document) == []
    assert [finding.code for finding in verify_export(document, documents[0].public_keys)] == ["AUD054"]


@pytest.mark.req("V30")
@pytest.mark.parametrize("document", [b"", b"null", b"{}", b"[1]", b"\xff", canonical({"format": "perdure.export/1"})])
def test_a_file_that_is_no_export_is_called_so(document: bytes) -> None:
    assert [finding.code for finding in verify_export(document)] == ["AUD070"]


@pytest.mark.req("V30")
async def test_records_that_no_seal_covers_yet_are_named_when_sealing_is_required(store_url: str) -> None:
    async with open_world(store_url) as world:
        await world.start("young", None)
        document = await exported(world, "young")
        assert verify_export(document) == []
        assert [finding.code for finding in verify_export(document, require_sealed=True)] == ["AUD062"]


@pytest.mark.req("V30")
async def test_all_calls_are_written_into_a_folder(store_url: str, tmp_path: Path) -> None:
    async with open_world(store_url) as world:
        await fill(world)
        await world.seal()
        out = tmp_path / "export"
        assert await export(world.store, MACHINES, None, out, world.key.public_keys) == len(world.calls)
        assert {file.stem for file in out.iterdir()} == {id_text(id) for id in world.calls.values()}
        one = world.calls["parked"]
        assert await export(world.store, MACHINES, [one], tmp_path / "one", world.key.public_keys) == 1


@pytest.mark.req("V30")
async def test_a_call_that_is_not_there_cannot_be_exported(store_url: str) -> None:
    async with open_world(store_url) as world:
        with pytest.raises(RejectedError, match="no such call"):
            await document_of(world.store, MACHINES, Id(b"x" * 16), {})
