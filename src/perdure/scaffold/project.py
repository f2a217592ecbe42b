"""A project as files: who owns each, what the lock keeps of it, and how a target makes it.

| owner | written | afterwards |
|---|---|---|
| tool | each time | a change by hand is told from a stale file by the hash in the header |
| people | once, when it is not there | never touched |
| kept | once, by the scaffold that made that version | stays as it is, its hash in the lock |
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, Protocol

import msgspec
from msgspec.json import format as format_json

from perdure.bpmn.contract import Contract, Policy
from perdure.bpmn.model import Model
from perdure.scaffold.data_shapes import Record, Shapes
from perdure.scaffold.program import Program
from perdure.typed_reading import read_json

Owner = Literal["tool", "people", "kept"]


class ProjectFile(msgspec.Struct, frozen=True):
    path: str
    text: str
    owner: Owner


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow type that runs. Only the last one follows the model; earlier ones are kept for what they carry."""

    number: int
    type: str
    program: Program
    fingerprint: str
    patches: tuple[str, ...] = ()
    """Nodes added while it ran, each behind a marker."""
    content: str = ""
    """Hash of its module, once it is kept."""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """What a scaffold was made from. No moment, no path of a machine, no version of a tool is in it."""

    lock: int = 1
    target: str
    model: str
    catalogue: str
    definition: str
    process: str
    contract: str
    tasks: dict[str, str]
    policies: dict[str, dict[str, Any]]
    functions: dict[str, str]
    """Functions of task types that some version uses."""
    records: tuple[Record, ...]
    versions: tuple[Version, ...]
    queue: str = ""
    """The type of the first version, once that was dropped: instances wait on the task queue of that name."""

    @property
    def first_type(self) -> str:
        """The type that the task queue and the classes are named after, for good."""
        return self.queue or self.versions[0].type

    def current(self) -> Version:
        return self.versions[-1]

    def text(self) -> str:
        """JSON with sorted keys, indented by two."""
        whole = msgspec.to_builtins(self)
        if not self.queue:
            del whole["queue"]
        return format_json(msgspec.json.encode(whole, order="sorted"), indent=2).decode() + "\n"


LOCK_FILE = "scaffold.lock.json"


def read_lock(text: str | bytes) -> Lock:
    """Raises msgspec.DecodeError or ValidationError for what is no lock."""
    return read_json(text, Lock)


class Blueprint(msgspec.Struct, frozen=True, kw_only=True):
    """What a target writes: the process, its data, its policies, its versions."""

    model: Model
    contract: Contract
    program: Program
    shapes: Shapes
    policies: tuple[Policy, ...]
    lock: Lock


class Check(msgspec.Struct, frozen=True):
    """A function of people that judges the answers of a user task; workflow code."""

    node: str
    path: str
    function: str


class Target(Protocol):
    """A language and an SDK: a folder of templates and what fills them."""

    name: str

    def files(self, blueprint: Blueprint) -> list[ProjectFile]: ...

    def body_path(self, lock: Lock, type: str) -> str: ...

    def workflow_path(self, lock: Lock, number: int) -> str: ...

    def generated_folder(self, lock: Lock) -> str: ...

    def checks(self, lock: Lock, contract: Contract) -> list[Check]: ...


def digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def with_header(path: str, text: str, model: str) -> str:
    """The text of a file that the tool owns, with the mark that says so and the hash of what follows."""
    said = f"Written by 'perdure scaffold' from {model}. Change the model: this file is written again."
    lines = [_remark(path, said), _remark(path, f"content {digest(text)}")]
    return "\n".join(lines) + "\n" + text


def header_digest(text: str) -> tuple[str, str] | None:
    """The hash a file says it has, and the one it has; None where no mark says that the tool wrote it."""
    lines = text.split("\n", 2)
    if len(lines) < 3 or "perdure scaffold" not in lines[0] or "content sha256:" not in lines[1]:
        return None
    return lines[1].split("content ", 1)[1].split(" ")[0], digest(lines[2])


def is_of_people(path: str, text: str) -> bool:
    """Whether a file that the tool would write belongs to people: a repository often has a README of its own."""
    return path == "README.md" and header_digest(text) is None


def _remark(path: str, text: str) -> str:
    return f"<!-- {text} -->" if path.endswith((".md", ".svg")) else f"# {text}"


def fingerprint(program: Program) -> str:
    """The hash of the sequence of commands that a program issues."""
    return digest(msgspec.json.encode(program, order="sorted").decode())
