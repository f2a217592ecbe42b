"""The process model: what a process is, whichever way it was written. Frozen values, no behaviour, no positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from perdure.bpmn.conditions.tree import Condition

TaskKind = Literal["none", "service", "send", "receive", "user", "manual", "script", "business_rule"]
SubProcessKind = Literal["embedded", "event", "transaction", "ad_hoc"]
GatewayKind = Literal["exclusive", "parallel", "inclusive", "event", "complex"]
Position = Literal["start", "catch", "throw", "boundary", "end"]
TimerKind = Literal["duration", "date", "cycle"]

ACTIVATION_COUNT = "orch_activation_count"
"""Given by the engine to the activation condition of a complex gateway: tokens that have arrived."""
COMPLETED_COUNT = "orch_completed_count"
"""Given by the engine to completion conditions of multi-instance and ad-hoc activities: iterations that have ended."""
GIVEN_FLAGS = frozenset({ACTIVATION_COUNT, COMPLETED_COUNT})


class Value(msgspec.Struct, frozen=True):
    """A literal, the value of one flag (`text` is its name), or something we do not evaluate, kept as written."""

    text: str
    kind: Literal["literal", "flag", "foreign"] = "literal"


class Extension(msgspec.Struct, frozen=True):
    """An extension element we give no meaning to, kept as found. `name` is `prefix:local` with the usual prefix."""

    name: str
    attributes: dict[str, str] = {}
    text: str = ""
    children: tuple[Extension, ...] = ()


class Mapping(msgspec.Struct, frozen=True):
    """One input or output of a `zeebe:ioMapping`; only the identity of a declared flag is accepted."""

    direction: Literal["input", "output"]
    source: Value
    target: str


class StandardLoop(msgspec.Struct, frozen=True, tag="loop", tag_field="is"):
    """Repeats while the condition holds, tested before or after each iteration, at most `maximum` times."""

    condition: Condition | None = None
    is_tested_before: bool = False
    maximum: int | None = None


class MultiInstance(msgspec.Struct, frozen=True, tag="multi_instance", tag_field="is"):
    """As many iterations as the cardinality says, at once or one after the other."""

    cardinality: Value
    is_sequential: bool = False
    completion: Condition | None = None


class MessageTrigger(msgspec.Struct, frozen=True, tag="message", tag_field="is"):
    """`message` is the id of a message of the file."""

    message: str


class TimerTrigger(msgspec.Struct, frozen=True, tag="timer", tag_field="is"):
    kind: TimerKind
    value: Value


class SignalTrigger(msgspec.Struct, frozen=True, tag="signal", tag_field="is"):
    signal: str


class ErrorTrigger(msgspec.Struct, frozen=True, tag="error", tag_field="is"):
    """Without an error, a catch event catches every one."""

    error: str = ""


class EscalationTrigger(msgspec.Struct, frozen=True, tag="escalation", tag_field="is"):
    escalation: str = ""


class CompensationTrigger(msgspec.Struct, frozen=True, tag="compensation", tag_field="is"):
    """Without an activity, the whole scope is compensated."""

    activity: str = ""
    waits: bool = True


class LinkTrigger(msgspec.Struct, frozen=True, tag="link", tag_field="is"):
    name: str


class ConditionalTrigger(msgspec.Struct, frozen=True, tag="conditional", tag_field="is"):
    condition: Condition


class TerminateTrigger(msgspec.Struct, frozen=True, tag="terminate", tag_field="is"):
    pass


class CancelTrigger(msgspec.Struct, frozen=True, tag="cancel", tag_field="is"):
    pass


Trigger = (
    MessageTrigger | TimerTrigger | SignalTrigger | ErrorTrigger | EscalationTrigger | CompensationTrigger
    | LinkTrigger | ConditionalTrigger | TerminateTrigger | CancelTrigger
)  # fmt: skip


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """A sequence flow. Whether it is a default is said by its source."""

    id: str
    source: str
    target: str
    name: str = ""
    condition: Condition | None = None
    documentation: str = ""
    extensions: tuple[Extension, ...] = ()


class Association(msgspec.Struct, frozen=True, kw_only=True):
    """Joins a compensation event to its handler, or an annotation to what it is about."""

    id: str
    source: str
    target: str
    direction: Literal["None", "One", "Both"] = "None"


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """A text on the diagram, or another artifact without meaning to the engine (data object, data store, group)."""

    id: str
    kind: Literal["text", "group", "data_object", "data_object_reference", "data_store_reference"] = "text"
    text: str = ""
    name: str = ""
    reference: str = ""


class Element(msgspec.Struct, frozen=True, kw_only=True):
    """What all flow nodes have."""

    id: str
    name: str = ""
    documentation: str = ""
    properties: dict[str, str] = {}
    """`zeebe:properties`: `intake`, `schema` and `replaces` of a wait are ours, the rest is kept."""
    extensions: tuple[Extension, ...] = ()


class Activity(Element, frozen=True, kw_only=True):
    """What tasks, subprocesses and call activities have."""

    default: str = ""
    repeat: StandardLoop | MultiInstance | None = None
    is_for_compensation: bool = False
    mappings: tuple[Mapping, ...] = ()


class Task(Activity, frozen=True, kw_only=True, tag="task", tag_field="is"):
    """`type` is a verb's name for service, send, business rule and script tasks (the latter names a callable)."""

    kind: TaskKind = "none"
    type: str = ""
    retries: int | None = None
    headers: dict[str, str] = {}
    message: str = ""
    is_instantiating: bool = False
    script: str = ""
    script_language: str = ""
    is_native: bool = False
    """A `zeebe:userTask`, as against one that is served as a job."""
    assignee: Value | None = None
    groups: Value | None = None
    users: Value | None = None
    due: Value | None = None
    follow_up: Value | None = None
    priority: Value | None = None
    form: str = ""


class SubProcess(Activity, frozen=True, kw_only=True, tag="subprocess", tag_field="is"):
    kind: SubProcessKind = "embedded"
    body: Scope
    ordering: Literal["parallel", "sequential"] = "parallel"
    completion: Condition | None = None
    cancels_remaining: bool = True


class CallActivity(Activity, frozen=True, kw_only=True, tag="call", tag_field="is"):
    """`process` is the id of the process called."""

    process: str
    hands_all: bool = True
    """Every flag goes with the call; else those of the input mappings only."""
    returns_all: bool = True
    """Every flag comes back, unless output mappings name some; else those of the output mappings only."""


class Gateway(Element, frozen=True, kw_only=True, tag="gateway", tag_field="is"):
    kind: GatewayKind
    default: str = ""
    activation: Condition | None = None
    is_instantiating: bool = False


class Event(Element, frozen=True, kw_only=True, tag="event", tag_field="is"):
    """No trigger is a none event, several are a multiple one (`is_parallel`: all of them must occur)."""

    position: Position
    triggers: tuple[Trigger, ...] = ()
    is_parallel: bool = False
    attached_to: str = ""
    is_interrupting: bool = True
    type: str = ""
    """The verb that sends what a message throw or end event throws; without one the engine publishes it."""
    retries: int | None = None
    headers: dict[str, str] = {}
    mappings: tuple[Mapping, ...] = ()


Node = Task | SubProcess | CallActivity | Gateway | Event


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str = ""
    members: tuple[str, ...] = ()
    lanes: tuple[Lane, ...] = ()


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What a process or subprocess holds, in the order of the file."""

    nodes: tuple[Node, ...] = ()
    flows: tuple[Flow, ...] = ()
    associations: tuple[Association, ...] = ()
    annotations: tuple[Annotation, ...] = ()


class Process(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str = ""
    documentation: str = ""
    is_executable: bool = True
    version_tag: str = ""
    properties: dict[str, str] = {}
    extensions: tuple[Extension, ...] = ()
    lanes: tuple[Lane, ...] = ()
    body: Scope


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """`correlation` is the key of a wait for it: a string flag, or a literal."""

    id: str
    name: str = ""
    correlation: Value | None = None
    extensions: tuple[Extension, ...] = ()


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str = ""


class Error(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str = ""
    code: str = ""


class Escalation(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str = ""
    code: str = ""


class Participant(msgspec.Struct, frozen=True, kw_only=True):
    """A pool; without a process it is a black box."""

    id: str
    name: str = ""
    process: str = ""


class MessageFlow(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    source: str
    target: str
    name: str = ""
    message: str = ""


class Collaboration(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    participants: tuple[Participant, ...] = ()
    message_flows: tuple[MessageFlow, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    associations: tuple[Association, ...] = ()


class Definitions(msgspec.Struct, frozen=True, kw_only=True):
    """One file: processes and what they refer to."""

    id: str
    namespace: str = "http://bpmn.io/schema/bpmn"
    processes: tuple[Process, ...] = ()
    collaboration: Collaboration | None = None
    messages: tuple[Message, ...] = ()
    signals: tuple[Signal, ...] = ()
    errors: tuple[Error, ...] = ()
    escalations: tuple[Escalation, ...] = ()

    def executable(self) -> tuple[Process, ...]:
        return tuple(process for process in self.processes if process.is_executable)


class Bounds(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Where a node, pool, lane or annotation is drawn. `look`: colours and markers, as the modeller wrote them."""

    element: str
    bounds: Bounds
    is_expanded: bool = True
    is_horizontal: bool = True
    label: Bounds | None = None
    look: dict[str, str] = {}


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """Where a flow, message flow or association is drawn."""

    element: str
    points: tuple[tuple[float, float], ...]
    label: Bounds | None = None
    look: dict[str, str] = {}


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """The drawing of one file. `plane` is the id of the collaboration or process it shows; empty, nothing is drawn.

    `inner` are further drawings: insides of collapsed subprocesses, other processes of the file. `notes` is the
    documentation of what is only drawn or referred to, by id: pools, lanes, messages. Absent, it leaves no trace where
    it is stored.
    """

    plane: str
    shapes: tuple[Shape, ...] = ()
    edges: tuple[Edge, ...] = ()
    inner: tuple[Diagram, ...] = ()
    notes: dict[str, str] | msgspec.UnsetType = msgspec.UNSET

    def is_blank(self) -> bool:
        """Whether it holds notes alone."""
        return not self.plane

    def planes(self) -> tuple[Diagram, ...]:
        """All that is drawn, each drawing by itself."""
        return self, *self.inner

    def elements(self) -> set[str]:
        """Ids of what this drawing shows."""
        return {shape.element for shape in self.shapes} | {edge.element for edge in self.edges}


class Place(msgspec.Struct, frozen=True):
    """Where something stands in a file; both count from 1."""

    line: int
    column: int


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """What reading passed over without harm: lint warns of it."""

    code: str
    element: str
    fact: str
    hint: str
    place: Place


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A file as read: what it defines, how it is drawn, and where each id stands."""

    definitions: Definitions
    diagram: Diagram | None = None
    file: str = ""
    places: dict[str, Place] = {}
    extension_places: dict[str, tuple[Place, ...]] = {}
    """Where elements of the contract profile stand, by `<id of the element>/<name>`, in the order of the file."""
    remarks: tuple[Remark, ...] = ()
    referred: frozenset[str] = frozenset()
    """Messages, signals, errors and escalations that something in the file refers to, whether it is read or not."""
    global_tasks: dict[str, str] = {}
    """Tasks at the root of the file by id, each with its kind: nothing runs by them."""


DATA_ASSOCIATIONS = ("bpmn:dataInputAssociation", "bpmn:dataOutputAssociation")


def data_associations(process: Process) -> Iterator[str]:
    """Ids of the data associations that are kept as they were found: nothing runs by them, but they are drawn."""
    for node in nodes(process.body):
        yield from (each.attributes.get("id", "") for each in node.extensions if each.name in DATA_ASSOCIATIONS)


def scopes(body: Scope) -> Iterator[Scope]:
    """The scope and every scope inside it, outermost first."""
    yield body
    for node in body.nodes:
        if isinstance(node, SubProcess):
            yield from scopes(node.body)


def nodes(body: Scope) -> Iterator[Node]:
    """Every node of the scope and of the scopes inside it."""
    for scope in scopes(body):
        yield from scope.nodes
