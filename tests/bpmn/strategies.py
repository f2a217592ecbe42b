"""Whole definitions and drawings for property tests: every field of the process model, every reference valid."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec import UNSET

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.conditions.tree import Among, Both, Compare, Either, Not
from perdure.bpmn.model import (
    Annotation,
    Association,
    Bounds,
    CallActivity,
    CancelTrigger,
    Collaboration,
    CompensationTrigger,
    ConditionalTrigger,
    Definitions,
    Diagram,
    Edge,
    Error,
    ErrorTrigger,
    Escalation,
    EscalationTrigger,
    Event,
    Extension,
    Flow,
    Gateway,
    Lane,
    LinkTrigger,
    Mapping,
    Message,
    MessageFlow,
    MessageTrigger,
    Model,
    MultiInstance,
    Node,
    Participant,
    Process,
    Scope,
    Shape,
    Signal,
    SignalTrigger,
    StandardLoop,
    SubProcess,
    Task,
    TerminateTrigger,
    TimerTrigger,
    Value,
    nodes,
    scopes,
)
from perdure.bpmn.xml.readers.flow_nodes import CALLABLE

HOSTILE = [
    "",
    "a",
    "&<>\"'",
    "]]>",
    "<!--",
    "&amp;",
    "\n",
    " \t ",
    "\r\n",
    "=x",
    "${x}",
    "é\U0001f600",
    "'\"\\",
    "{u}n",
]
characters = st.characters(
    exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff", include_characters="\n\t\r"
)
texts = st.sampled_from(HOSTILE) | st.text(characters, max_size=8)
words = texts.filter(bool)
trimmed = texts.map(str.strip)
flags = st.sampled_from(["orch_a", "orch_outcome", "orch_n_1"])
foreign = st.sampled_from(["=a + 1", "=count(items)", "${x.y}", '=orch_a + "b"', "=", "=now()", "= for"])
values = (
    st.builds(Value, texts) | st.builds(Value, flags, st.just("flag")) | st.builds(Value, foreign, st.just("foreign"))
)
cardinalities = values | st.builds(Value, st.integers(0, 99).map(str)) | st.builds(Value, flags)
tables = st.dictionaries(texts, texts, max_size=2)
coordinates = st.integers(-500, 2000).map(float) | st.floats(-1e6, 1e6, allow_nan=False)
boxes = st.builds(Bounds, coordinates, coordinates, coordinates, coordinates)

_scalars = texts | st.booleans() | st.integers(-99, 99)
_leaves = (
    st.builds(Compare, flags, st.sampled_from(["=", "!="]), _scalars)
    | st.builds(Compare, flags, st.sampled_from(["<", "<=", ">", ">="]), st.integers(-9, 9))
    | st.builds(Among, flags, st.lists(_scalars, min_size=1, max_size=3).map(tuple))
)
_trees = st.recursive(
    _leaves,
    lambda inner: (
        st.builds(Both, st.tuples(inner, inner)) | st.builds(Either, st.tuples(inner, inner)) | st.builds(Not, inner)
    ),
    max_leaves=4,
)
conditions = _trees.map(show_condition).map(parse_condition) | trimmed.map(parse_condition)

_names = st.sampled_from(
    ["zeebe:executionListeners", "camunda:connector", "ameide:workflowDefinition", "{urn:a b}x", "plain"]
)
_attributes = st.dictionaries(st.sampled_from(["type", "camunda:class", "{urn:b}y", "xml:lang"]), texts, max_size=2)
others = st.recursive(
    st.builds(Extension, _names, _attributes, trimmed),
    lambda inner: st.builds(Extension, _names, _attributes, trimmed, st.lists(inner, max_size=2).map(tuple)),
    max_leaves=3,
)
_odd = st.dictionaries(
    st.sampled_from(["zeebe:modelerTemplate", "startQuantity", "{urn:b}y"]), words, min_size=1, max_size=2
)
_standard = st.builds(Extension, st.sampled_from(["bpmn:property", "bpmn:ioSpecification"]), _attributes, trimmed)


@st.composite
def extensions(draw: st.DrawFn, residual: str = "") -> tuple[Extension, ...]:
    """Extensions in the order they are read: attributes, what is left of a known element, others, standard content."""
    found = [Extension("attributes", draw(_odd))] if draw(_rarely) else []
    if residual and draw(_rarely):
        found.append(Extension(residual, {"future": draw(words)}))
    if draw(_rarely):
        found += draw(st.lists(others, max_size=2))
    return (*found, draw(_standard)) if draw(_rarely) else tuple(found)


_rarely = st.integers(0, 3).map(lambda number: number == 3)


class Names:
    """Ids that are given once, and those others may refer to."""

    def __init__(self) -> None:
        self.count = 0
        self.roots: dict[str, list[str]] = {"message": [], "signal": [], "error": [], "escalation": []}

    def new(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}"


@st.composite
def models(draw: st.DrawFn) -> Model:
    found = draw(definitions())
    return Model(definitions=found, diagram=draw(diagrams(found)))


@st.composite
def definitions(draw: st.DrawFn) -> Definitions:
    names = Names()
    for kind, ids in names.roots.items():
        ids += [names.new(kind) for _ in range(draw(st.integers(1, 2)))]
    processes = tuple(draw(_process(names)) for _ in range(draw(st.sampled_from([1, 2, 0]))))
    return Definitions(
        id=names.new("definitions"),
        namespace=draw(texts),
        processes=processes,
        collaboration=draw(_collaboration(names, processes)) if draw(st.booleans()) else None,
        messages=tuple(
            Message(
                id=id,
                name=draw(texts),
                correlation=draw(st.none() | values),
                extensions=draw(extensions("zeebe:subscription")),
            )
            for id in names.roots["message"]
        ),
        signals=tuple(Signal(id=id, name=draw(texts)) for id in names.roots["signal"]),
        errors=tuple(Error(id=id, name=draw(texts), code=draw(texts)) for id in names.roots["error"]),
        escalations=tuple(Escalation(id=id, name=draw(texts), code=draw(texts)) for id in names.roots["escalation"]),
    )


@st.composite
def _message(draw: st.DrawFn, id: str) -> Message:
    found = draw(extensions("zeebe:subscription"))
    return Message(id=id, name=draw(texts), correlation=draw(st.none() | values), extensions=found)


looks = st.dictionaries(st.sampled_from(["isMarkerVisible", "bioc:stroke", "color:border-color"]), texts, max_size=2)


@st.composite
def diagrams(draw: st.DrawFn, found: Definitions) -> Diagram | None:
    """A drawing of some of the elements."""
    planes = [process.id for process in found.processes]
    planes += [found.collaboration.id] if found.collaboration is not None else []
    if not planes:
        return None
    drawn = [node.id for process in found.processes for node in nodes(process.body)]
    lines = [flow.id for process in found.processes for scope in scopes(process.body) for flow in scope.flows]
    inner = tuple(draw(_plane(planes, drawn, lines)) for _ in range(draw(st.integers(0, 1))))
    plane = draw(_plane(planes, drawn, lines))
    about = [each.id for each in (*found.messages, *(lane for one in found.processes for lane in one.lanes))]
    notes = {id: draw(texts.filter(bool)) for id in about[:2]}
    return Diagram(plane=plane.plane, shapes=plane.shapes, edges=plane.edges, inner=inner, notes=notes or UNSET)


@st.composite
def _plane(draw: st.DrawFn, planes: list[str], drawn: list[str], lines: list[str]) -> Diagram:
    points = st.lists(st.tuples(coordinates, coordinates), max_size=3).map(tuple)
    return Diagram(
        plane=draw(st.sampled_from(planes)),
        shapes=tuple(
            Shape(
                element=id,
                bounds=draw(boxes),
                is_expanded=draw(st.booleans()),
                is_horizontal=draw(st.booleans()),
                label=draw(st.none() | boxes),
                look=draw(looks),
            )
            for id in drawn[:3]
        ),
        edges=tuple(
            Edge(element=id, points=draw(points), label=draw(st.none() | boxes), look=draw(looks)) for id in lines[:3]
        ),
    )


@st.composite
def _process(draw: st.DrawFn, names: Names) -> Process:
    body = draw(_scope(names, 0))
    members = [node.id for node in nodes(body)]
    return Process(
        id=names.new("process"),
        name=draw(texts),
        documentation=draw(texts),
        is_executable=draw(st.booleans()),
        version_tag=draw(texts),
        properties=draw(tables),
        extensions=draw(extensions("zeebe:versionTag")) if draw(_rarely) else (),
        lanes=draw(_lanes(names, members, 0)),
        body=body,
    )


@st.composite
def _lanes(draw: st.DrawFn, names: Names, members: list[str], depth: int) -> tuple[Lane, ...]:
    return tuple(
        Lane(
            id=names.new("lane"),
            name=draw(texts),
            members=tuple(draw(st.lists(st.sampled_from(members), max_size=2))) if members else (),
            lanes=draw(_lanes(names, members, depth + 1)) if depth < 1 else (),
        )
        for _ in range(draw(st.integers(0, 2)))
    )


@st.composite
def _scope(draw: st.DrawFn, names: Names, depth: int) -> Scope:
    ids = [names.new("node") for _ in range(draw(st.sampled_from([0, 2, 5, 8])))]
    flows = tuple(draw(_flow(names, ids)) for _ in range(draw(st.integers(0, 5)))) if ids else ()
    inside: list[Node] = []
    for id in ids:
        inside.append(draw(_node(names, id, [flow.id for flow in flows if flow.source == id], inside, depth)))
    annotations = draw(_annotations(names))
    return Scope(
        nodes=tuple(inside),
        flows=flows,
        annotations=annotations,
        associations=draw(_associations(names, [*ids, *(each.id for each in annotations)])),
    )


@st.composite
def _flow(draw: st.DrawFn, names: Names, ids: list[str]) -> Flow:
    return Flow(
        id=names.new("flow"),
        source=draw(st.sampled_from(ids)),
        target=draw(st.sampled_from(ids)),
        name=draw(texts),
        condition=draw(st.none() | conditions),
        documentation=draw(texts),
        extensions=draw(extensions()),
    )


@st.composite
def _annotations(draw: st.DrawFn, names: Names) -> tuple[Annotation, ...]:
    found = []
    if draw(_rarely):
        data = names.new("data")
        found = [
            Annotation(id=data, kind="data_object", name=draw(texts)),
            Annotation(id=names.new("data"), kind="data_object_reference", name=draw(texts), reference=data),
            Annotation(
                id=names.new("store"), kind="data_store_reference", text=draw(texts), reference=names.new("held")
            ),
        ]
    if draw(_rarely):
        found.append(Annotation(id=names.new("text"), text=draw(texts), name=draw(texts)))
        found.append(Annotation(id=names.new("group"), kind="group", text=draw(texts), reference=names.new("value")))
    return tuple(found)


@st.composite
def _associations(draw: st.DrawFn, names: Names, ids: list[str]) -> tuple[Association, ...]:
    ends = st.sampled_from(ids or [""])
    return tuple(
        Association(
            id=names.new("association"),
            source=draw(ends),
            target=draw(ends),
            direction=draw(st.sampled_from(["None", "One", "Both"])),
        )
        for _ in range(draw(st.integers(0, 2)) if ids else 0)
    )


@st.composite
def _node(draw: st.DrawFn, names: Names, id: str, own: list[str], beside: list[Node], depth: int) -> Node:
    kinds = ["task", "task", "event", "event", "event", "gateway", "call"] + (["subprocess"] if depth < 2 else [])
    common: dict[str, Any] = {
        "id": id, "name": draw(texts), "documentation": draw(texts), "properties": draw(tables),
    }  # fmt: skip
    default = draw(st.sampled_from(["", *own]))
    match draw(st.sampled_from(kinds)):
        case "task":
            return draw(_task(names, {**common, **draw(_activity(default, "zeebe:taskDefinition"))}))
        case "subprocess":
            return draw(_sub_process(names, {**common, **draw(_activity(default, "zeebe:ioMapping"))}, depth))
        case "call":
            return CallActivity(
                **common, **draw(_activity(default, "zeebe:calledElement")), process=draw(texts),
                hands_all=draw(st.booleans()), returns_all=draw(st.booleans()),
            )  # fmt: skip
        case "gateway":
            return draw(_gateway({**common, "extensions": draw(extensions()), "default": default}))
        case _:
            return draw(_event(names, {**common, "extensions": draw(extensions("zeebe:taskDefinition"))}, beside))


@st.composite
def _activity(draw: st.DrawFn, default: str, residual: str) -> dict[str, Any]:
    loops = st.builds(StandardLoop, st.none() | conditions, st.booleans(), st.none() | st.integers(0, 99))
    instances = st.builds(MultiInstance, cardinalities, st.booleans(), st.none() | conditions)
    repeat = draw(st.none() | loops | instances)
    found = draw(extensions(residual))
    if isinstance(repeat, MultiInstance) and draw(_rarely):
        found += (Extension("zeebe:loopCharacteristics", {"outputCollection": draw(words)}),)
        found += (Extension("bpmn:multiInstanceLoopCharacteristics", {"behavior": "None"}),)
    return {
        "extensions": found,
        "default": default,
        "repeat": repeat,
        "is_for_compensation": draw(st.booleans()),
        "mappings": draw(mappings),
    }


mappings = st.lists(st.builds(Mapping, st.sampled_from(["input", "output"]), values, texts), max_size=2).map(tuple)


@st.composite
def _task(draw: st.DrawFn, names: Names, fields: dict[str, Any]) -> Task:
    kind = draw(
        st.sampled_from(["user", "none", "service", "send", "receive", "user", "manual", "script", "business_rule"])
    )
    people = st.none() | values
    has_message = kind in ("send", "receive")
    return Task(
        **fields,
        kind=kind,
        type=draw(texts),
        retries=draw(st.none() | st.integers(0, 99)),
        headers=draw(tables),
        message=draw(st.sampled_from(["", *names.roots["message"]])) if has_message else "",
        is_instantiating=has_message and draw(st.booleans()),
        script=draw(texts.filter(lambda text: not CALLABLE.fullmatch(text.strip()))) if kind == "script" else "",
        script_language=draw(texts) if kind == "script" else "",
        is_native=kind == "user" and draw(st.booleans()),
        assignee=draw(people),
        groups=draw(people),
        users=draw(people),
        due=draw(people),
        follow_up=draw(people),
        priority=draw(people),
        form=draw(texts),
    )


@st.composite
def _sub_process(draw: st.DrawFn, names: Names, fields: dict[str, Any], depth: int) -> SubProcess:
    kind = draw(st.sampled_from(["embedded", "event", "transaction", "ad_hoc"]))
    special: dict[str, Any] = {}
    if kind == "ad_hoc":
        special = {
            "ordering": draw(st.sampled_from(["parallel", "sequential"])),
            "completion": draw(st.none() | conditions),
            "cancels_remaining": draw(st.booleans()),
        }
    return SubProcess(**fields, kind=kind, body=draw(_scope(names, depth + 1)), **special)


@st.composite
def _gateway(draw: st.DrawFn, fields: dict[str, Any]) -> Gateway:
    kind = draw(st.sampled_from(["exclusive", "parallel", "inclusive", "event", "complex"]))
    return Gateway(
        **fields,
        kind=kind,
        activation=draw(st.none() | conditions) if kind == "complex" else None,
        is_instantiating=kind == "event" and draw(st.booleans()),
    )


@st.composite
def _event(draw: st.DrawFn, names: Names, fields: dict[str, Any], beside: list[Node]) -> Event:
    hosts = [node.id for node in beside if isinstance(node, Task | SubProcess | CallActivity)]
    position = draw(st.sampled_from(["start", "catch", "throw", "end", *(["boundary"] * 3 if hosts else [])]))
    return Event(
        **fields,
        position=position,
        triggers=tuple(draw(st.lists(triggers(names, hosts), max_size=4))),
        is_parallel=draw(st.booleans()),
        attached_to=draw(st.sampled_from(hosts)) if position == "boundary" else "",
        is_interrupting=draw(st.booleans()) if position in ("start", "boundary") else True,
        type=draw(texts),
        retries=draw(st.none() | st.integers(0, 99)),
        headers=draw(tables),
        mappings=draw(mappings),
    )


def triggers(names: Names, activities: list[str]) -> st.SearchStrategy[Any]:
    def one(kind: str) -> st.SearchStrategy[str]:
        return st.sampled_from(["", *names.roots[kind]])

    return st.one_of(
        st.builds(MessageTrigger, one("message")),
        st.builds(TimerTrigger, st.sampled_from(["duration", "date", "cycle"]), values),
        st.builds(SignalTrigger, one("signal")),
        st.builds(ErrorTrigger, one("error")),
        st.builds(EscalationTrigger, one("escalation")),
        st.builds(CompensationTrigger, st.sampled_from(["", *activities]), st.booleans()),
        st.builds(LinkTrigger, texts),
        st.builds(ConditionalTrigger, conditions),
        st.builds(TerminateTrigger),
        st.builds(CancelTrigger),
    )


@st.composite
def _collaboration(draw: st.DrawFn, names: Names, processes: tuple[Process, ...]) -> Collaboration:
    pools = tuple(
        Participant(id=names.new("pool"), name=draw(texts), process=process)
        for process in ["", *(each.id for each in processes)]
    )
    ends = st.sampled_from([pool.id for pool in pools])
    annotations = tuple(each for each in draw(_annotations(names)) if each.kind in ("text", "group"))
    return Collaboration(
        id=names.new("collaboration"),
        participants=pools,
        message_flows=tuple(
            MessageFlow(
                id=names.new("message_flow"),
                source=draw(ends),
                target=draw(ends),
                name=draw(texts),
                message=draw(st.sampled_from(["", *names.roots["message"]])),
            )
            for _ in range(draw(st.integers(0, 2)))
        ),
        annotations=annotations,
        associations=draw(_associations(names, [each.id for each in annotations])),
    )
