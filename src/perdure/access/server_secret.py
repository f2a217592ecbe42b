"""The secret of a server: a file made once, readable by its owner alone, shared by the servers of one store."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from perdure.errors import RejectedError, Rejection, RejectionCode
from perdure.sources import fresh_secret

SECRET_BYTES = 32
MAX_BYTES = 4096


def load_or_create_secret(path: Path) -> bytes:
    """The secret in the file; a new one when there is no file. A file that is there is never overwritten."""
    if not path.exists():
        _create(path, fresh_secret(SECRET_BYTES).hex().encode() + b"\n")  # whoever was first wins
    return load_secret(path)


def load_secret(path: Path) -> bytes:
    """The secret in the file; refused when anybody but its owner may read or change it, or when it is too short."""
    try:
        mode = path.stat().st_mode
        with path.open("rb") as file:
            text = file.read(MAX_BYTES)
    except OSError as error:
        raise _refusal("not_found", path, f"it cannot be read ({error.strerror})") from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise _refusal(
            "forbidden", path, f"others may read it (mode {stat.S_IMODE(mode):04o})",
            "Run `chmod 600` on it, and make a new one if somebody may have seen it: remove the file.",
        )  # fmt: skip
    try:
        secret = bytes.fromhex(text.decode("ascii"))
    except ValueError as error:
        raise _refusal(
            "invalid", path, "it is no secret that this made", "Remove it to have a new one made."
        ) from error
    if len(secret) < SECRET_BYTES:
        raise _refusal("invalid", path, f"it holds {len(secret)} bytes and must hold {SECRET_BYTES}")
    return secret


def _create(path: Path, content: bytes) -> None:
    """Write the file whole or not at all, for its owner alone from the first moment; one that is there stays."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    except OSError as error:
        raise _refusal("invalid", path, f"it cannot be written ({error.strerror})") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        Path(temporary).unlink()


def _refusal(code: RejectionCode, path: Path, fact: str, hint: str = "") -> RejectedError:
    return RejectedError(Rejection(code, "use", "secret file", str(path), fact, hint))
