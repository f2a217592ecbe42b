"""Signed tokens: which of a provider's keys signed one, by an algorithm that we allow, and nothing the token says."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, OKPKey, RSAKey

from perdure.access.api_key_text import from_letters

Key = RSAKey | ECKey | OKPKey
ALGORITHMS: Mapping[str, tuple[type[Any], str]] = {
    "RS256": (RSAKey, ""), "PS256": (RSAKey, ""), "ES256": (ECKey, "P-256"), "EdDSA": (OKPKey, "Ed25519"),
    "Ed25519": (OKPKey, "Ed25519"),
}  # fmt: skip
"""What is allowed, with the kind of key and the curve it takes. Never none, never a shared secret."""
MAX_TOKEN = 16_384
MAX_KEYS = 100
MIN_RSA_BITS = 2048


class Header(NamedTuple):
    """What we look at of a token's header; where it says to find a key is not believed."""

    algorithm: str
    key_id: str


class KeyFound(NamedTuple):
    """A key of a provider."""

    id: str
    algorithm: str
    key: Key


def read_header(token: str) -> Header | None:
    """The header of a token that may be one of ours to check; None for whatever may not."""
    parts = token.split(".")
    if len(token) > MAX_TOKEN or len(parts) != 3 or not all(parts):
        return None
    header = _decoded(parts[0])
    if header is None or "crit" in header:
        return None
    algorithm, key_id = header.get("alg"), header.get("kid", "")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(key_id, str):
        return None
    return Header(algorithm, key_id)


def read_keys(document: Any) -> list[KeyFound]:
    """The keys of a JWKS document that can check signatures we allow; others are passed over."""
    listed = document.get("keys") if isinstance(document, dict) else None
    found = [_key(each) for each in listed[:MAX_KEYS]] if isinstance(listed, list) else []
    return [each for each in found if each is not None]


def _key(data: Any) -> KeyFound | None:
    kinds: dict[str, type[Key]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
    kind = kinds.get(str(data.get("kty"))) if isinstance(data, dict) else None
    if kind is None or data.get("use", "sig") != "sig" or "d" in data:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # of keys that are too short, which are passed over
            key = kind.import_key({name: value for name, value in data.items() if name in _PARTS})
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    if isinstance(key, RSAKey) and key.raw_value.key_size < MIN_RSA_BITS:
        return None
    return KeyFound(str(data.get("kid", "")), str(data.get("alg", "")), key)


_PARTS = frozenset({"kty", "n", "e", "crv", "x", "y"})


def suiting(keys: Iterable[KeyFound], header: Header) -> list[Key]:
    """The keys that may have signed it: of that id when it names one, and made for its algorithm."""
    kind, curve = ALGORITHMS[header.algorithm]
    return [
        each.key
        for each in keys
        if (not header.key_id or each.id == header.key_id)
        and each.algorithm in ("", header.algorithm)
        and isinstance(each.key, kind)
        and (not curve or each.key.as_dict(private=False).get("crv") == curve)
    ]


def verified(token: str, header: Header, keys: Iterable[Key]) -> dict[str, Any] | None:
    """The claims of a token that one of the keys signed; None when none did."""
    for key in keys:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SecurityWarning)  # of the name EdDSA, which providers still use
                signed = jws.deserialize_compact(token, key, algorithms=[header.algorithm], registry=_registry(header))
        except (JoseError, ValueError, TypeError):
            continue
        claims = _object(signed.payload)
        if claims is not None:
            return claims
    return None


def _registry(header: Header) -> jws.JWSRegistry:
    # Not strict about further words of the header: they are not looked at.
    registry = jws.JWSRegistry(algorithms=[header.algorithm], strict_check_header=False)
    registry.max_header_length = MAX_TOKEN
    return registry


def _decoded(text: str) -> dict[str, Any] | None:
    data = from_letters(text)
    return _object(data) if data is not None else None


def _object(data: bytes | None) -> dict[str, Any] | None:
    try:
        value = json.loads(data or b"", object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name twice could be read as one thing here and as another elsewhere."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)
