"""The key file of a store: made once, never replaced in silence, with public halves and the last seal beside it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from perdure.errors import RejectedError, Rejection
from perdure.store.signing_keys import (
    PUBLIC_SUFFIX,
    SigningKey,
    create_key,
    load_key,
    load_public_keys,
    public_pem,
)

NEXT_SUFFIX = ".next"
NOTE_SUFFIX = ".seals"
STORES_NOTED = 100
"""Stores one key may seal; the note of who was sealed longest ago is forgotten."""


class SealKeyFile:
    """One key file and what lies beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ready(self, in_force: str, url: str) -> SigningKey:
        """The key to seal with; made when nothing was sealed yet, refused when it is not the key in force."""
        self._finish_rotation(in_force)
        if not self.path.exists():
            if in_force:
                raise _stopped(url, f"its key file '{self.path}' is gone and its seals were made with key '{in_force}'")
            create_key(self.path)
        key = load_key(self.path)
        if in_force and key.key_id != in_force:
            raise _stopped(url, f"'{self.path}' holds key '{key.key_id}' and its seals were made with key '{in_force}'")
        self.publish(key)
        return key

    def publish(self, key: SigningKey) -> None:
        """Put the public half of the key in use beside it; the one of another key stays under its own name."""
        file = self.path.with_name(self.path.name + PUBLIC_SUFFIX)
        text = public_pem(key.public)
        if file.exists() and (before := file.read_bytes()) != text:
            self._keep_public(file, before)
        if not file.exists() or file.read_bytes() != text:
            replace_file(file, text, 0o644)

    def public_files(self) -> list[Path]:
        """The public halves that lie beside the key: of the key in use and of those before it."""
        return sorted(self.path.parent.glob(f"{self.path.name}*{PUBLIC_SUFFIX}"))

    def _keep_public(self, file: Path, text: bytes) -> None:
        try:
            (id,) = load_public_keys([file])
        except RejectedError:
            return  # no key at all: nothing can be checked with it
        replace_file(self.path.with_name(f"{self.path.name}.{id}{PUBLIC_SUFFIX}"), text, 0o644)

    def prepare(self) -> SigningKey:
        """A new key beside the old one, to be put in its place once the journal knows of it."""
        self._next.unlink(missing_ok=True)
        return create_key(self._next)

    def _finish_rotation(self, in_force: str) -> None:
        """Put the prepared key in place when it is the one in force by now."""
        if self._next.exists() and in_force and load_key(self._next).key_id == in_force:
            os.replace(self._next, self.path)

    @property
    def _next(self) -> Path:
        return self.path.with_name(self.path.name + NEXT_SUFFIX)

    # --- the last seal, noted ------------------------------------------------------------------------------------

    @property
    def note_path(self) -> Path:
        return self.path.with_name(self.path.name + NOTE_SUFFIX)

    def noted(self, store: str) -> tuple[int, str] | None:
        """The last seal of a store that was noted: its number and hash."""
        return self._notes().get(store)

    def note(self, store: str, number: int, hash: str) -> None:
        notes = self._notes()
        notes.pop(store, None)
        notes[store] = (number, hash)
        lines = [f"{name} {each} {of}\n" for name, (each, of) in list(notes.items())[-STORES_NOTED:]]
        replace_file(self.note_path, "".join(lines).encode(), 0o600)

    def _notes(self) -> dict[str, tuple[int, str]]:
        if not self.note_path.exists():
            return {}
        rows = [line.split(" ") for line in self.note_path.read_text("utf-8", "replace").splitlines()]
        return {row[0]: (int(row[1]), row[2]) for row in rows if len(row) == 3 and row[1].isdecimal()}


def replace_file(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole, in the place of one that is there."""
    handle, temporary = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).chmod(mode)
    os.replace(temporary, path)


def _stopped(url: str, fact: str) -> RejectedError:
    hint = "Bring that key back from a backup, or run `perdure audit rotate-key` to put a new one in force."
    return RejectedError(Rejection("blocked", "seal", "store", url, fact, hint))
