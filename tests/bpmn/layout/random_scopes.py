"""Random scopes: flows in any direction, loops, subprocesses, boundary events, handlers, annotations, lanes."""

from __future__ import annotations

from hypothesis import strategies as st

from perdure.bpmn.model import (
    Annotation,
    Association,
    CallActivity,
    Collaboration,
    CompensationTrigger,
    Definitions,
    Event,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    MultiInstance,
    Node,
    Participant,
    Process,
    Scope,
    SubProcess,
    Task,
    TimerTrigger,
    Trigger,
    Value,
    nodes,
)  # fmt: skip

NAMES = st.sampled_from(["", "Check", "Ask the customer for the missing documents", "Überweisung", "x" * 60])


@st.composite
def scopes(draw: st.DrawFn, depth: int = 2, prefix: str = "") -> Scope:
    """A scope with up to a dozen nodes; ids begin with the prefix."""
    made: list[Node] = [
        draw(_node(f"{prefix}n{number}", depth)) for number in range(draw(st.integers(0, 12 if depth == 2 else 4)))
    ]
    made += draw(_boundary(made, prefix))
    inner = [node.id for node in made if not (isinstance(node, Event) and node.position == "boundary")]
    flows = draw(_flows([node.id for node in made], inner, prefix)) if inner else []
    annotations, associations = draw(_artifacts([node.id for node in made], prefix))
    handlers: list[Node] = []
    for number, node in enumerate(list(made)):
        if isinstance(node, Event) and any(isinstance(each, CompensationTrigger) for each in node.triggers):
            handlers.append(Task(id=f"{prefix}h{number}", name="Undo", is_for_compensation=True))
            associations.append(Association(id=f"{prefix}c{number}", source=node.id, target=f"{prefix}h{number}"))
    return Scope(
        nodes=(*made, *handlers), flows=tuple(flows), annotations=tuple(annotations), associations=tuple(associations)
    )


@st.composite
def _node(draw: st.DrawFn, id: str, depth: int) -> Node:
    name = draw(NAMES)
    kind = draw(st.integers(0, 7))
    if kind == 0 and depth:
        body = draw(scopes(depth - 1, f"{id}_"))
        repeat = MultiInstance(cardinality=Value("3")) if draw(st.booleans()) else None
        return SubProcess(id=id, name=name, body=body, repeat=repeat, kind=draw(st.sampled_from(["embedded", "event"])))
    if kind == 1:
        return CallActivity(id=id, name=name, process="p")
    if kind in (2, 3):
        return Gateway(id=id, name=name, kind=draw(st.sampled_from(["exclusive", "parallel", "inclusive"])))
    if kind == 4:
        return Event(id=id, name=name, position=draw(st.sampled_from(["start", "end", "catch"])))
    return Task(id=id, name=name)


@st.composite
def _boundary(draw: st.DrawFn, made: list[Node], prefix: str) -> list[Event]:
    hosts = [node.id for node in made if isinstance(node, Task | SubProcess | CallActivity)]
    if not hosts:
        return []
    triggers: tuple[Trigger, ...] = (TimerTrigger("duration", Value("PT1H")), CompensationTrigger())
    return [
        Event(
            id=f"{prefix}b{number}", name=draw(NAMES), position="boundary", attached_to=draw(st.sampled_from(hosts)),
            triggers=(draw(st.sampled_from(triggers)),), is_interrupting=draw(st.booleans()),
        )
        for number in range(draw(st.integers(0, 4)))
    ]  # fmt: skip


@st.composite
def _flows(draw: st.DrawFn, sources: list[str], targets: list[str], prefix: str) -> list[Flow]:
    pairs = draw(st.lists(st.tuples(st.sampled_from(sources), st.sampled_from(targets)), max_size=20))
    return [
        Flow(id=f"{prefix}f{number}", source=source, target=target, name=draw(NAMES))
        for number, (source, target) in enumerate(pairs)
    ]


@st.composite
def _artifacts(draw: st.DrawFn, ids: list[str], prefix: str) -> tuple[list[Annotation], list[Association]]:
    annotations = [Annotation(id=f"{prefix}a{number}", text=draw(NAMES)) for number in range(draw(st.integers(0, 2)))]
    tied = draw(st.integers(0, 2))
    associations = [
        Association(id=f"{prefix}t{number}", source=draw(st.sampled_from(ids)), target=annotation.id)
        for number, annotation in enumerate(annotations)
        if ids and number < tied
    ]
    return annotations, associations


@st.composite
def files(draw: st.DrawFn) -> Definitions:
    """Several processes, some with lanes, perhaps in pools with messages between them."""
    processes = []
    for number in range(draw(st.integers(1, 3))):
        body = draw(scopes(prefix=f"p{number}_"))
        lanes: tuple[Lane, ...] = ()
        if draw(st.booleans()):
            members: list[list[str]] = [[], [], []]
            for node in body.nodes:
                members[draw(st.integers(0, 2))].append(node.id)
            lanes = tuple(
                Lane(id=f"p{number}_l{place}", name="Lane", members=tuple(each)) for place, each in enumerate(members)
            )
        processes.append(Process(id=f"p{number}", body=body, lanes=lanes))
    collaboration = draw(_collaboration(processes)) if draw(st.booleans()) else None
    return Definitions(id="file", processes=tuple(processes), collaboration=collaboration)


@st.composite
def _collaboration(draw: st.DrawFn, processes: list[Process]) -> Collaboration:
    pools = [Participant(id=f"{each.id}_pool", name="Pool", process=each.id) for each in processes]
    pools.append(Participant(id="outside", name="Customer"))
    ends = [node.id for process in processes for node in nodes(process.body)] + [pool.id for pool in pools]
    pairs = draw(st.lists(st.tuples(st.sampled_from(ends), st.sampled_from(ends)), max_size=4))
    flows = [
        MessageFlow(id=f"m{number}", source=source, target=target, name="message")
        for number, (source, target) in enumerate(pairs)
        if source != target
    ]
    return Collaboration(id="together", participants=tuple(pools), message_flows=tuple(flows))
