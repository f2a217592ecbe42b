"""Payload keys: AES-256 keys with ids, from a file or the environment. The first one encrypts, all of them decrypt."""

from __future__ import annotations

import os
import re
from base64 import b64decode
from binascii import Error as Base64Error
from pathlib import Path

import msgspec

from perdure.errors import EngineSettingError

KEY_BYTES = 32
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
FORM = "one line `ID BASE64` for each key of 32 bytes, the one that encrypts first"


class PayloadKeys(msgspec.Struct, frozen=True):
    """By id, the current one first."""

    keys: dict[str, bytes]
    source: str
    """Where they come from, for sentences."""

    @property
    def current(self) -> str:
        return next(iter(self.keys))


def read_keys(setting: str, url: str) -> PayloadKeys:
    """The keys that `file:PATH` or `env:NAME` hold; EngineSettingError says what is wrong with them, and no key."""
    kind, _, name = setting.partition(":")
    if kind == "file" and name:
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _refused(url, f"the keys in '{name}' cannot be read: {type(error).__name__}") from error
    elif kind == "env" and name:
        text = os.environ.get(name, "")
        if not text:
            raise _refused(url, f"the environment has no variable '{name}'")
    else:
        raise _refused(url, f"'{kind}' names no place of keys", "Write encryption=file:PATH or encryption=env:NAME.")
    return PayloadKeys(_parsed(text, url, setting), setting)


def _parsed(text: str, url: str, setting: str) -> dict[str, bytes]:
    keys: dict[str, bytes] = {}
    for number, line in enumerate(re.split(r"[\n,]", text), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not ID.fullmatch(words[0]):
            raise _refused(url, f"line {number} of {setting} is no key", f"It holds {FORM}.")
        id, written = words
        try:
            key = b64decode(written, validate=True)
        except Base64Error as error:
            raise _refused(url, f"key '{id}' of {setting} is not written in Base64") from error
        if len(key) != KEY_BYTES:
            raise _refused(url, f"key '{id}' of {setting} has {len(key)} bytes", f"It holds {FORM}.")
        if id in keys:
            raise _refused(url, f"{setting} has two keys '{id}'")
        keys[id] = key
    if not keys:
        raise _refused(url, f"{setting} holds no key", f"It holds {FORM}: openssl rand -base64 32.")
    return keys


def _refused(url: str, fact: str, hint: str = "") -> EngineSettingError:
    return EngineSettingError("open", "engine", url, fact, hint)
