"""Drift: files of the tool against what model and policies give, the lock against both."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from perdure.scaffold.compile import Compiled
from perdure.scaffold.evolution import Evolution
from perdure.scaffold.project import LOCK_FILE, Lock, ProjectFile, Target, digest, header_digest, is_of_people
from perdure.scaffold.verify.findings import Mismatch

AGAIN = "Scaffold again."
MOST_DIFF_LINES = 60


def check_files(folder: Path, compiled: Compiled) -> Iterator[Mismatch]:
    for file in compiled.files:
        there = folder / file.path
        if not there.is_file():
            if file.owner == "tool":
                yield Mismatch(code="AME082", path=file.path, fact="the generated file is missing", hint=AGAIN)
            continue
        if file.owner == "tool":
            yield from _check_file(file, there.read_bytes().decode("utf-8", "replace"))


def check_left_over(folder: Path, lock: Lock, writer: Target, compiled: Compiled) -> Iterator[Mismatch]:
    """Files beside the generated ones that nothing generates."""
    wanted = {each.path for each in compiled.files}
    for file in sorted((folder / writer.generated_folder(lock)).rglob("*.py")):
        path = file.relative_to(folder).as_posix()
        if path not in wanted:
            yield Mismatch(
                code="AME082",
                path=path,
                fact="nothing generates this file",
                hint="Move it out of the folder of the tool.",
            )


def check_kept(folder: Path, lock: Lock, writer: Target) -> Iterator[Mismatch]:
    """Modules of earlier versions, which instances still run."""
    for version in lock.versions[:-1]:
        path = writer.workflow_path(lock, version.number)
        there = folder / path
        if not there.is_file() or digest(there.read_text("utf-8")) != version.content:
            fact = "the module of an earlier version is not as it was kept"
            yield Mismatch(code="AME086", path=path, fact=fact, hint="Take it from version control.")


def check_lock(folder: Path, compiled: Compiled) -> Iterator[Mismatch]:
    text = (folder / LOCK_FILE).read_text("utf-8")
    if text != compiled.lock.text():
        fact = "it does not say what the model and the policies say"
        yield Mismatch(
            code="AME083", path=LOCK_FILE, fact=fact, hint=AGAIN, diff=_diff(text, compiled.lock.text(), LOCK_FILE)
        )


def check_commands(evolution: Evolution, lock: Lock) -> Iterator[Mismatch]:
    """A change of what the workflow issues, which would wedge what runs."""
    if evolution.change == "patched":
        nodes = ", ".join(f"'{each}'" for each in evolution.added)
        fact = f"the workflow issues other commands than before: {nodes} came in without a marker"
        yield Mismatch(code="AME084", path=lock.model, fact=fact, hint="Scaffold again: it puts them behind markers.")
    elif evolution.change == "version":
        fact = "the workflow issues other commands than before, and no marker can keep both"
        hint = "Scaffold again: it begins a new version and keeps this one."
        yield Mismatch(code="AME084", path=lock.model, fact=fact, hint=hint)


def _check_file(file: ProjectFile, text: str) -> Iterator[Mismatch]:
    if is_of_people(file.path, text):
        return
    mark = header_digest(text)
    if mark is None or mark[0] != mark[1]:
        fact = "it was changed by hand" if mark is not None else "its mark is gone: it was changed by hand"
        hint = "Move the change into the model or a file of yours; then scaffold with --force."
        yield Mismatch(code="AME080", path=file.path, fact=fact, hint=hint, diff=_diff(text, file.text, file.path))
    elif text != file.text:
        fact = "it is stale: the model or the policies changed after it was written"
        yield Mismatch(code="AME081", path=file.path, fact=fact, hint=AGAIN, diff=_diff(text, file.text, file.path))


def _diff(there: str, wanted: str, path: str) -> str:
    lines = list(unified_diff(there.splitlines(), wanted.splitlines(), path, f"{path} (generated)", lineterm="", n=2))
    more = [f"… {len(lines) - MOST_DIFF_LINES} more lines"] if len(lines) > MOST_DIFF_LINES else []
    return "\n".join([*lines[:MOST_DIFF_LINES], *more])
