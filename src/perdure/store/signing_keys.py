"""Keys that sign seals: kept in a file outside the database, checked with public keys alone."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from perdure.errors import RejectedError, Rejection, RejectionCode

PublicKeys = Mapping[str, bytes]
"""Raw public keys by their ids; old ones stay as long as their seals do."""

PUBLIC_SUFFIX = ".pub"
MAX_KEY_BYTES = 10_000


class SigningKey:
    """An Ed25519 key that signs seals."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.key_id = key_id_of(self.public)

    def sign(self, data: bytes) -> bytes:
        return self._private.sign(data)

    @property
    def public_keys(self) -> PublicKeys:
        return {self.key_id: self.public}


def key_id_of(public: bytes) -> str:
    """Sixteen letters that name a public key."""
    return sha256(public).hexdigest()[:16]


def is_signed(public: bytes, signature: bytes, data: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def create_key(path: Path) -> SigningKey:
    """A new key in a file, readable by its owner alone; the one that is there when another process was faster."""
    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    _create(path, pem, 0o600)  # whoever was first wins; everyone uses that one
    return load_key(path)


def load_or_create_key(path: Path) -> SigningKey:
    """The key in the file; a new one, readable by its owner alone, when there is no file.

    The public half is written beside it as `<name>.pub`. A file that is there is never overwritten.
    """
    key = load_key(path) if path.exists() else create_key(path)
    public_path = path.with_name(path.name + PUBLIC_SUFFIX)
    if not public_path.exists():
        _create(public_path, public_pem(key.public), 0o644)
    return key


def load_key(path: Path) -> SigningKey:
    """The key in the file; refused when anybody but its owner may read or change it."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise _refusal("not_found", path, f"it cannot be read ({error.strerror})") from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise _refusal(
            "forbidden", path, f"others may read it (mode {stat.S_IMODE(mode):04o})",
            "Run `chmod 600` on it, and make a new key if somebody may have seen it.",
        )  # fmt: skip
    try:
        private = load_pem_private_key(_read(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _refusal("invalid", path, "it is no unencrypted PEM key") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise _refusal("invalid", path, "it holds a key of another kind than Ed25519")
    return SigningKey(private)


def load_public_keys(paths: Iterable[Path]) -> dict[str, bytes]:
    """Public keys from files, and from every `*.pub` in folders."""
    keys: dict[str, bytes] = {}
    for path in paths:
        for file in sorted(path.glob(f"*{PUBLIC_SUFFIX}")) if path.is_dir() else [path]:
            public = _load_public(file)
            keys[key_id_of(public)] = public
    return keys


def public_pem(public: bytes) -> bytes:
    """A public key as the text people hand around."""
    key = Ed25519PublicKey.from_public_bytes(public)
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _load_public(path: Path) -> bytes:
    try:
        key = load_pem_public_key(_read(path))
    except OSError as error:
        raise _refusal("not_found", path, f"it cannot be read ({error.strerror})") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _refusal("invalid", path, "it is no PEM public key of a kind that is known") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _refusal("invalid", path, "it holds a key of another kind than Ed25519")
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_KEY_BYTES)


def _create(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole or not at all; one that is there stays as it is."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    except OSError as error:
        raise _refusal("invalid", path, f"it cannot be written ({error.strerror})") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        Path(temporary).unlink()


def _refusal(code: RejectionCode, path: Path, fact: str, hint: str = "") -> RejectedError:
    return RejectedError(Rejection(code, "use", "key file", str(path), fact, hint))
