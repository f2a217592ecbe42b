"""What a server tells that no operation of the platform itself gives back."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from perdure.app.instance_views import InstanceView
from perdure.app.reviewing import DeploymentView, FindingView
from perdure.app.runbook_views import RunbookView
from perdure.app.views import CallView
from perdure.engine import Deployment, ProcessVersion
from perdure.errors import Problem


class VerbRow(msgspec.Struct, frozen=True):
    """A verb in a list."""

    name: str
    version: int
    kind: str
    description: str
    consequence: str
    sentences: list[str]
    domain: str = ""


class VerbView(msgspec.Struct, frozen=True):
    """Everything declared about one version of a verb. `process` carries it, where it is durable and has one."""

    name: str
    version: int
    versions: list[int]
    kind: str
    description: str
    consequence: str
    domain: str
    sentences: dict[str, Any]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    execution: dict[str, Any]
    index: list[str]
    writes: list[str]
    process: str
    metadata: dict[str, Any]
    content_hash: str
    contract: dict[str, Any] | None = None


class SessionView(msgspec.Struct, frozen=True):
    """Whom the key stands for, and what they may do."""

    principal: str
    tenant: str
    kind: str
    roles: list[str]
    groups: list[str]
    authentication: str
    may: list[str]
    verbs: list[str] = []


class WaitToken(msgspec.Struct, frozen=True):
    """What ends one wait and sends its progress: `Authorization: Wait <token>`. Good until the wait is over."""

    key: str
    token: str

    def __repr__(self) -> str:
        return f"WaitToken(key={self.key!r}, token=…)"


class RetriedView(msgspec.Struct, frozen=True):
    """What became of one of many incidents that were tried again: `status` as if it had been asked for alone."""

    id: str
    status: int
    state: str = ""
    problem: dict[str, Any] | None = None


class ProcessVersions(msgspec.Struct, frozen=True):
    """Every version of a process."""

    process: str
    versions: list[ProcessVersion]


class Progress(msgspec.Struct, frozen=True):
    """How far something has come, in words."""

    text: str


class Heard(msgspec.Struct, frozen=True):
    """How many a signal reached."""

    name: str
    reached: int | None


class Verbs(msgspec.Struct, frozen=True):
    """Verbs by name."""

    items: list[VerbRow]


class Runbooks(msgspec.Struct, frozen=True):
    """Runbooks that an act on many of them changed."""

    items: list[RunbookView]


class RetriedMany(msgspec.Struct, frozen=True):
    """Each by itself, in the order they were named."""

    items: list[RetriedView]


def carried(data: Any) -> CallView | InstanceView | RunbookView:
    """A call, an instance or a runbook, by what is told of it."""
    kind: Any = RunbookView if "steps" in data else InstanceView if "process" in data else CallView
    view: CallView | InstanceView | RunbookView = msgspec.convert(data, kind)
    return view


def deployment(view: DeploymentView, file: str) -> Deployment:
    """A deployment as the platform itself gives it back."""
    found = tuple(_problem(each, file) for each in view.findings)
    return Deployment(view.process, view.version, view.hash, found, view.is_new)


def _problem(finding: FindingView, file: str) -> Problem:
    severity: Literal["error", "warning"] = "error" if finding.severity == "error" else "warning"
    return Problem(
        finding.code, file, finding.line, finding.column, finding.element, finding.fact, finding.hint, severity
    )


def index_text(value: Any) -> str:
    """A value as an index holds it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
