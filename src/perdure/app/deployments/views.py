"""Views of a deployment's impact, as every surface shows them."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.bpmn.conditions.tree import Scalar

Impact = Literal["goes_on", "migrates", "stays_pinned"]
GRAVEST: tuple[Impact, ...] = ("stays_pinned", "migrates", "goes_on")


class LoadedVerb(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verb that workers are to have: its text by its hash, and whether they can run it."""

    name: str
    version: int
    hash: str
    is_served: bool = True


class StandingView(msgspec.Struct, frozen=True):
    """Tokens on one element: `kind` is what they wait for there, `incident` the code of what stopped them."""

    element: str
    name: str
    kind: str
    count: int = 1
    incident: str = ""


class AwaitedEvent(msgspec.Struct, frozen=True):
    """An event that may happen: a message, a signal, a timer or a condition."""

    event: str
    kind: str
    name: str = ""
    count: int = 1


class StateImpact(msgspec.Struct, frozen=True, kw_only=True):
    """A state in which instances are parked, and what the deployment means for it."""

    version: int
    """The version that these instances are on."""
    instances: int
    examples: list[str]
    """The ids of some of them."""
    standing: list[StandingView]
    awaited: list[AwaitedEvent] = []
    flags: dict[str, Scalar] = {}
    """What they know of flags that a condition may still read."""
    is_suspended: bool = False
    verdict: Impact
    mapping: dict[str, str] = {}
    """Old element or flow to new one; what is not named keeps its id."""
    reason: str = ""
    element: str = ""
    """The element that the reason is about."""
    code: str = ""
    """The finding of the proof, where it is one."""
    steps: list[str] = []
    """What happens until it is stuck."""
    bound: str = ""
    """The bound that the proof reached: states, seconds or bytes."""
    goes_around: list[str] = []
    """Human tasks that a migration leaves behind without an answer: somebody who could answer them has to agree."""


class ProcessImpact(msgspec.Struct, frozen=True, kw_only=True):
    """A process, the version that instances would follow, and every state they are parked in, the gravest first."""

    process: str
    version: int
    """Its number; 0 of one that is not deployed."""
    hash: str
    is_deployed: bool
    verdict: Impact
    instances: int
    states: list[StateImpact]


class VerbImpact(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a verb that running work is pinned to, and what serves it."""

    verb: str
    version: int
    hash: str
    loaded: str
    """The hash of the text that is loaded under that name and version; empty when none is."""
    steps: int
    """Steps of calls and runbooks that are pinned to it and have not ended."""
    instances: int
    """Instances whose version is pinned to it."""
    examples: list[str]
    verdict: Impact
    reason: str = ""


class CarrierImpact(msgspec.Struct, frozen=True, kw_only=True):
    """Instances that one build of a carrier's workers decides, and what this build says of them."""

    engine: str
    build: str
    current: str
    """The build of the workers of this release."""
    instances: int
    examples: list[str]
    replayed: int
    """Recorded histories of them that were replayed with the code of this build."""
    verdict: Impact
    reason: str = ""


class DeploymentImpact(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment means for everything that runs; nothing was changed."""

    verdict: Impact
    """The gravest of all."""
    is_decided: bool
    """Whether everything was looked at: else `bounds` says what was not."""
    processes: list[ProcessImpact]
    verbs: list[VerbImpact]
    carriers: list[CarrierImpact]
    bounds: list[str] = []


def gravest(verdicts: list[Impact]) -> Impact:
    return next((each for each in GRAVEST if each in verdicts), "goes_on")
