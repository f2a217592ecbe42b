"""The closing scene: everything is verified, and one changed byte is found."""

from __future__ import annotations

from pathlib import Path

from perdure.demo.command_runner import BrokenPromise, Stage

OWNER = b"Ingrid Solberg"


def verify(stage: Stage) -> None:
    stage.step("Everything is checked: rows, chains of records, payloads, seals")
    stage.run("audit", "seal", is_quiet=True)
    stage.run("audit", "verify")


def tamper(stage: Stage) -> None:
    stage.step("One byte is changed, in a copy of the database file")
    copy = stage.folder / "copy.db"
    stage.run("db", "backup", copy.name, is_quiet=True)
    place = flip(copy, OWNER)
    stage.say(f"  byte {place} of {copy.name}: an owner is now called 'Ingrid Solbery', no SQL involved")
    key = stage.folder / "perdure.db.seal.key.pub"
    told = stage.run("audit", "verify", "--store", f"sqlite:///{copy.name}", "--key", key.name, exit_code=9)
    stage.promise("payload of" in told, "the change is found, and its place is named")
    stage.promise(stage.ask("audit", "verify")["ok"], "the original is whole")


def flip(file: Path, word: bytes) -> int:
    """Change the last letter of the first such word in a file; returns where."""
    data = bytearray(file.read_bytes())
    start = data.find(word)
    if start < 0:
        raise BrokenPromise(f"'{word.decode()}' was not found in {file.name}")
    place = start + len(word) - 1
    data[place] = ord("y")
    file.write_bytes(data)
    return place
