"""Deployments: a process as it is judged, deployed and listed, whichever engine carries it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

import msgspec

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.model import Model
from perdure.errors import Problem
from perdure.verb_contract import ConsequenceTier
from perdure.verbs.consequence_tier import Consequence

Check = Callable[[Model, Deployed, Any, Collection[str]], Sequence[Problem]]
"""Judges a process before it is deployed, told which of those it calls are there; errors among problems refuse it."""


class Deployment(msgspec.Struct, frozen=True):
    """A process as deployed. `findings` are the warnings it was let through with, `consequence` the gravest tier it
    could reach then."""

    process: str
    version: int
    hash: str
    findings: tuple[Problem, ...] = ()
    is_new: bool = True
    consequence: ConsequenceTier | Literal[""] = ""


class Judged(msgspec.Struct, frozen=True):
    """A process that may be deployed: bound, as it is stored, what was found; `known` when it is there already."""

    deployed: Deployed
    data: bytes
    drawing: bytes = b""
    """How the model draws it, as it is stored; empty when it does not."""
    findings: tuple[Problem, ...] = ()
    known: Deployment | None = None
    consequence: Consequence | None = None
    """All that it can reach; None until that is worked out, at the latest when it is entered."""


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
    consequence: ConsequenceTier | Literal[""] = ""
    """The gravest tier it could reach when it was deployed; empty of one deployed before that was kept."""
    engine: str = ""
    """The name of the engine on which an instance begins now."""
