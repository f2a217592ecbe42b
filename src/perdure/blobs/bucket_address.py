"""Addresses of buckets: `s3://bucket/prefix?endpoint=…`, and where their credentials are read from.

| part | means |
|---|---|
| `s3://bucket/prefix` | the bucket, and the beginning of every name in it |
| `endpoint=https://…` | a server that speaks S3; default: Amazon's |
| `region=…` | default: `AWS_REGION`, or `us-east-1` |
| `access_key=env:NAME`, `secret_key=file:/path` | where credentials are read from; default: `AWS_ACCESS_KEY_ID` … |
| a credential itself | refused: settings are shown, copied and logged |
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from perdure.errors import StoreSettingError

S3 = "s3://"
REFERENCES = {"access_key": "access_key_id", "secret_key": "secret_access_key", "session_token": "session_token"}
OPTIONS = ("endpoint", "region", *REFERENCES)
REGION = "us-east-1"


class BucketAddress(msgspec.Struct, frozen=True):
    """A bucket with its options; credentials are references, never texts."""

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    credentials: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """The place without its options."""
        return f"{S3}{self.bucket}/{self.prefix}".rstrip("/")

    def settings(self) -> dict[str, Any]:
        """The settings of a connection, with credentials as they are now."""
        region = self.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or REGION
        found: dict[str, Any] = {"region": region}
        if self.endpoint:
            found["endpoint"] = self.endpoint
        return found | {REFERENCES[name]: _read(self.shown, name, text) for name, text in self.credentials}


def parse_address(text: str) -> BucketAddress:
    """The bucket that a setting names, or StoreSettingError that repeats no credential."""
    parts = urlsplit(text)
    shown = f"{S3}{(parts.hostname or '')}{parts.path}"
    if parts.username or parts.password:
        raise _refused(shown, "it holds a credential")
    if not parts.hostname:
        raise _refused(shown, "it names no bucket", "Write s3://bucket/prefix?endpoint=https://host.")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name, value in given.items():
        if name not in OPTIONS:
            raise _refused(shown, f"'{name[:40]}' is no option of it", f"Options are {', '.join(OPTIONS)}.")
        if name in REFERENCES and not value.startswith(("env:", "file:")):
            raise _refused(shown, f"'{name}' holds a credential")
    endpoint = given.get("endpoint", "")
    if endpoint and not endpoint.startswith(("https://", "http://")):
        raise _refused(shown, "its endpoint is no address", "Write endpoint=https://host.")
    credentials = tuple((name, given[name]) for name in REFERENCES if name in given)
    return BucketAddress(parts.hostname, parts.path.strip("/"), endpoint, given.get("region", ""), credentials)


def _read(place: str, name: str, reference: str) -> str:
    kind, _, where = reference.partition(":")
    try:
        return os.environ[where] if kind == "env" else Path(where).read_text("utf-8").strip()
    except (KeyError, OSError, UnicodeDecodeError):
        what = f"the variable '{where}'" if kind == "env" else f"the file '{where}'"
        raise _refused(place, f"{what} of its '{name}' cannot be read", "Set it where this process runs.") from None


def _refused(place: str, fact: str, hint: str = "") -> StoreSettingError:
    hint = hint or "Name where it is read from: access_key=env:NAME, secret_key=file:/path."
    return StoreSettingError("open", "blobs at", place, fact, hint)
