"""Deployments: a process as it is judged, deployed and listed, whichever engine carries it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

import msgspec

from perdure.bpmn.machine.definition import Deployed
from perdure.bpmn.model import Model
from perdure.errors import Problem

Check = Callable[[Model, Deployed, Any, Collection[str]], Sequence[Problem]]
"""Judges a process before it is deployed, told which of those it calls are there; errors among problems refuse it."""


class Deployment(msgspec.Struct, frozen=True):
    """A process as deployed. `findings` are the warnings it was let through with."""

    process: str
    version: int
    hash: str
    findings: tuple[Problem, ...] = ()
    is_new: bool = True


class Judged(msgspec.Struct, frozen=True):
    """A process that may be deployed: bound, as it is stored, what was found; `known` when it is there already."""

    deployed: Deployed
    data: bytes
    drawing: bytes = b""
    """How the model draws it, as it is stored; empty when it does not."""
    findings: tuple[Problem, ...] = ()
    known: Deployment | None = None


class ProcessVersion(msgspec.Struct, frozen=True):
    """One version of a process; `is_latest` is what new instances take."""

    process: str
    version: int
    hash: str
    status: Literal["active", "deprecated", "retired"]
    deployed_at: str | None
    by: str
    verb: str = ""
    is_latest: bool = False
