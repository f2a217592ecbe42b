"""Payloads on their way to Temporal carry their hash, and an altered or foreign one is refused."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload

from perdure.engines.temporal.payload_codec import HashedPayloads
from perdure.engines.temporal.payload_keys import PayloadKeys, read_keys
from perdure.errors import EngineSettingError, MissingKeyError, PayloadIntegrityError

SENT = Payload(metadata={"encoding": b"binary/plain"}, data=b"a decision")


async def test_a_payload_comes_back_byte_for_byte() -> None:
    codec = HashedPayloads()
    assert await codec.decode(await codec.encode([SENT])) == [SENT]


@pytest.mark.req("V13")
async def test_an_altered_payload_is_refused() -> None:
    codec = HashedPayloads()
    (wrapped,) = await codec.encode([SENT])
    wrapped.data = wrapped.data.replace(b"decision", b"decisiom")
    with pytest.raises(PayloadIntegrityError, match="do not have the hash"):
        await codec.decode([wrapped])


async def test_a_foreign_payload_is_refused() -> None:
    with pytest.raises(PayloadIntegrityError, match="binary/plain"):
        await HashedPayloads().decode([SENT])


ONE, TWO = bytes(range(32)), bytes(range(1, 33))


def keyed(**keys: bytes) -> HashedPayloads:
    return HashedPayloads(PayloadKeys(keys, "file:keys"))


@pytest.mark.req("V13")
async def test_with_keys_a_payload_is_encrypted_with_the_first_and_read_with_any() -> None:
    (sealed,) = await keyed(k1=ONE).encode([SENT])
    assert b"decision" not in sealed.SerializeToString()
    assert await keyed(k2=TWO, k1=ONE).decode([sealed]) == [SENT], "a key that was replaced still reads"
    (rotated,) = await keyed(k2=TWO, k1=ONE).encode([SENT])
    assert rotated.metadata["perdure-key"] == b"k2"
    assert (await keyed(k1=ONE).encode([SENT]))[0].data != sealed.data, "one payload twice looks different"


async def test_a_payload_from_before_the_keys_is_still_read() -> None:
    assert await keyed(k1=ONE).decode(await HashedPayloads().encode([SENT])) == [SENT]


async def test_a_missing_key_is_named_with_what_to_do() -> None:
    (sealed,) = await keyed(k1=ONE).encode([SENT])
    with pytest.raises(MissingKeyError, match="encrypted with the key 'k1', and file:keys has 'k2'"):
        await keyed(k2=TWO).decode([sealed])
    with pytest.raises(MissingKeyError, match="this process has no keys"):
        await HashedPayloads().decode([sealed])


async def test_another_key_under_the_same_name_and_altered_bytes_are_refused() -> None:
    (sealed,) = await keyed(k1=ONE).encode([SENT])
    with pytest.raises(PayloadIntegrityError, match="the key 'k1' here is not the one"):
        await keyed(k1=TWO).decode([sealed])
    renamed = Payload(metadata={**sealed.metadata, "perdure-key": b"k2"}, data=sealed.data)
    with pytest.raises(PayloadIntegrityError):
        await keyed(k2=ONE).decode([renamed])
    sealed.data = sealed.data[:-1] + bytes([sealed.data[-1] ^ 1])
    with pytest.raises(PayloadIntegrityError, match="were altered"):
        await keyed(k1=ONE).decode([sealed])


def test_keys_come_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"k2 {b64encode(TWO).decode()}  # since June\n\nk1 {b64encode(ONE).decode()}\n"
    (tmp_path / "keys").write_text(text)
    found = read_keys(f"file:{tmp_path}/keys", "temporal://h/n")
    assert (found.current, found.keys) == ("k2", {"k2": TWO, "k1": ONE})
    monkeypatch.setenv("KEYS", f"k1 {b64encode(ONE).decode()},k2 {b64encode(TWO).decode()}")
    assert read_keys("env:KEYS", "temporal://h/n").current == "k1"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "holds no key"), ("k1", "line 1 of"), ("k1 nonsense!", "not written in Base64"),
        ("k1 c2hvcnQ=", "5 bytes"),
        (f"k1 {b64encode(ONE).decode()}\nk1 {b64encode(TWO).decode()}", "two keys 'k1'"),
    ],
)  # fmt: skip
def test_keys_that_are_none_are_refused_without_being_shown(tmp_path: Path, text: str, fact: str) -> None:
    (tmp_path / "keys").write_text(text)
    with pytest.raises(EngineSettingError, match=fact) as refused:
        read_keys(f"file:{tmp_path}/keys", "temporal://h/n")
    assert b64encode(ONE).decode() not in str(refused.value)
    with pytest.raises(EngineSettingError):
        read_keys(f"file:{tmp_path}/none", "temporal://h/n")
    with pytest.raises(EngineSettingError, match=r"encryption=file:PATH"):
        read_keys("keys", "temporal://h/n")
