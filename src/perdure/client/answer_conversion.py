"""The conversion of server answers into the values that the platform itself returns."""

from __future__ import annotations

from typing import Any, Literal

from perdure.app.calls.views import CallView
from perdure.app.instances.views import InstanceView
from perdure.app.processes.model_review import DeploymentView, FindingView
from perdure.app.runbooks.views import RunbookView
from perdure.engine import Deployment
from perdure.errors import Problem
from perdure.typed_reading import convert


def carried(data: Any) -> CallView | InstanceView | RunbookView:
    """A call, an instance or a runbook, by what is told of it."""
    kind: Any = RunbookView if "steps" in data else InstanceView if "process" in data else CallView
    view: CallView | InstanceView | RunbookView = convert(data, kind)
    return view


def deployment(view: DeploymentView, file: str) -> Deployment:
    """A deployment as the platform itself gives it back."""
    found = tuple(_problem(each, file) for each in view.findings)
    return Deployment(view.process, view.version, view.hash, found, view.is_new, view.consequence)


def _problem(finding: FindingView, file: str) -> Problem:
    severity: Literal["error", "warning"] = "error" if finding.severity == "error" else "warning"
    return Problem(
        finding.code, file, finding.line, finding.column, finding.element, finding.fact, finding.hint, severity
    )
