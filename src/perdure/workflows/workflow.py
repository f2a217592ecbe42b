"""`Workflow`: a process written in Python, by a chain of calls or by nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perdure.workflows.graph import END, START, Boundary, Graph
from perdure.workflows.nodes import (
    NAME,
    CatchEvent,
    Condition,
    EndEvent,
    EventBasedGateway,
    ExclusiveGateway,
    Gateway,
    Node,
    ParallelGateway,
    StartEvent,
    TimerEvent,
)
from perdure.workflows.places import Place, caller, refusal
from perdure.workflows.variables import TYPES, Variable
from perdure.workflows.versions import VersionError, parse_version

if TYPE_CHECKING:
    from perdure.bpmn.model import Model
    from perdure.workflows.compiler import CompiledWorkflow
    from perdure.workflows.transaction import WorkflowTransaction

Item = Node | str
Branch = Item | Sequence[Item]
Declared = Mapping[str, str | Mapping[str, Any]] | Sequence[str]


class Workflow:
    """A process in the making. `variables` declares names, with a type or with `type`, `required` and `default`."""

    def __init__(
        self, id: str, version: str = "1.0", name: str = "", description: str = "", variables: Declared | None = None
    ) -> None:
        self.place = caller()
        if not isinstance(id, str) or not NAME.fullmatch(id) or id != id.lower():
            fact = f"the id {id!r} is no name of lower-case letters, digits and underscores"
            raise refusal(self.place, "id", str(id)[:60], fact, "Write e.g. Workflow(id='pr_review').")
        try:
            parse_version(version)
        except VersionError as error:
            raise refusal(self.place, "version", id, str(error), "Write e.g. version='1.0' or '2.0-strict'.") from None
        self.id, self.version = id, version
        self.name, self.description = name or id.replace("_", " ").capitalize(), description
        self.graph = Graph()
        self.variables = _declared(self.place, variables)
        self._compiled: CompiledWorkflow | None = None

    # --- a chain of calls ----------------------------------------------------------------------------------------

    def start(self, id: str = START, **misplaced: Any) -> Flow:
        """Begin the chain: `workflow.start().then(task).end()`."""
        place = caller()
        if misplaced:
            hint = f"Write: await engine.start_workflow('{self.id}', variables=…)."
            raise refusal(place, "start", self.id, "a workflow is begun by an engine, which has a store", hint)
        return self._begin(StartEvent(id), place)

    def start_on_timer(self, event: TimerEvent) -> Flow:
        """Begin an instance whenever it is time."""
        return self.start_on(event)

    def start_on(self, event: CatchEvent) -> Flow:
        """Begin an instance whenever the event occurs."""
        place = caller()
        if not isinstance(event, CatchEvent):
            fact = f"{event!r} is no event"
            raise refusal(place, "event", self.id, fact, "Give a TimerEvent, a MessageEvent or a SignalEvent.")
        return self._begin(StartEvent(event.id, event, event.name), place)

    def _begin(self, start: StartEvent, place: Place) -> Flow:
        self._compiled = None
        return Flow(self, self.graph.add(start, place))

    # --- nodes and edges -----------------------------------------------------------------------------------------

    def add_start_event(self, id: str = START) -> None:
        place = caller()
        self._begin(StartEvent(id), place)

    def add_node(self, node: Node) -> None:
        self._compiled = None
        self.graph.add(node, caller())

    def add_edge(self, source: Item, target: Item, route: str = "") -> None:
        """From one node to another; behind a fork whose tasks were given together, from where they meet."""
        place, self._compiled = caller(), None
        name = self.graph.named(source, place)
        if name in self.graph.forked and not route:
            name = self._joined(name, place)
        self.graph.connect(name, target, place, route)

    def add_conditional_edge(
        self, source: Item, condition: Condition, true_target: Item, false_target: Item | None = None
    ) -> None:
        """A way of a gateway by the name of its condition; or, behind a task, a condition of its own."""
        place, self._compiled = caller(), None
        name = self.graph.named(source, place)
        node = self.graph.nodes.get(name)
        if isinstance(node, ExclusiveGateway) and isinstance(condition, str) and false_target is None:
            self.graph.connect(name, true_target, place, condition)
            return
        if false_target is None or isinstance(node, Gateway):
            fact = f"'{name}' is no gateway with a route '{condition}'"
            hint = "Add the gateway first, or give false_target= as well."
            raise refusal(place, "route", name, fact, hint)
        choice = ExclusiveGateway(f"{name}_choice", {"yes": condition}, "no")
        self.graph.connect(name, choice, place)
        self.graph.connect(choice, true_target, place, "yes")
        self.graph.connect(choice, false_target, place, "no")

    def add_parallel_tasks(self, gateway: ParallelGateway | str, tasks: Sequence[Branch]) -> None:
        """Tasks that begin together behind a fork, and meet before what follows it."""
        place, self._compiled = caller(), None
        fork = self.graph.named(gateway, place)
        join = self.graph.forked.setdefault(fork, f"{fork}_join")
        for task in tasks:
            last = self.graph.chain(fork, task, place)
            self.graph.connect(last, self._join(join), place)

    def _join(self, id: str) -> Node:
        return self.graph.nodes.get(id) or ParallelGateway(id, mode="join")

    def _joined(self, fork: str, place: Place) -> str:
        return self.graph.forked[fork]

    def add_boundary_event(
        self, attached_to: Item, event: CatchEvent, interrupt: bool = True, then: Branch | None = None
    ) -> None:
        """What happens while a task is under way; `interrupt` ends the task, and `then` says what follows."""
        place, self._compiled = caller(), None
        if not isinstance(event, CatchEvent):
            hint = "Give a TimerEvent, a MessageEvent, a SignalEvent or an ErrorEvent."
            raise refusal(place, "event", str(attached_to), f"{event!r} is no event", hint)
        items = [then] if isinstance(then, Node | str) else list(then or [END])
        first = self.graph.named(items[0], place)
        self.graph.boundaries.append(Boundary(self.graph.named(attached_to, place), event, interrupt, first, place))
        last = self.graph.chain(first, items[1:], place)
        if not self.graph.out(last) and not isinstance(self.graph.nodes.get(last), EndEvent):
            self.graph.ends.append((last, place))

    # --- what it is ----------------------------------------------------------------------------------------------

    def compile(self) -> CompiledWorkflow:
        """The model, the verbs and the handlers; DefinitionError with everything that is wrong."""
        from perdure.workflows.compiler import compile_workflow  # noqa: PLC0415  many imports, wanted once

        if self._compiled is None:
            self._compiled = compile_workflow(self)
        return self._compiled

    def to_model(self) -> Model:
        """The process model, the same one that a BPMN file is read into."""
        return self.compile().model

    def to_bpmn(self) -> str:
        """A BPMN file, drawn, as modellers open it."""
        from perdure.bpmn.xml import write_model  # noqa: PLC0415

        return write_model(self.to_model())

    def content_hash(self) -> str:
        """`sha256:` of the model, the same whichever way it was written."""
        from perdure.bpmn.content_hash import content_hash  # noqa: PLC0415

        return content_hash(self.to_model().definitions, self.id)

    def __repr__(self) -> str:
        return f"Workflow({self.id!r}, {self.version!r})"


class Flow:
    """The open end of a chain: where what is said next goes on."""

    def __init__(self, workflow: Workflow, at: str) -> None:
        self._workflow, self._graph = workflow, workflow.graph
        self._tips: list[tuple[str, str]] = [(at, "")]
        self._gateway: Gateway | None = None
        self._fork = ""

    def then(self, node: Item) -> Flow:
        """What comes next; all open ways lead to it."""
        place = caller()
        is_join = isinstance(node, ParallelGateway) and node.mode == "join"
        if self._fork and is_join:
            self._graph.forked[self._fork] = node.id  # type: ignore[union-attr]
            self._fork = ""
        name = self._graph.named(node, place)
        self._lead_to(name, place)
        known = self._graph.nodes.get(name)
        self._gateway = known if isinstance(known, ExclusiveGateway | EventBasedGateway) else None
        self._tips = [(name, "")]
        return self

    def route(self, name: str, *nodes: Branch) -> Flow:
        """One way of the gateway, with what comes on it; without nodes it leads to what comes next."""
        place, gateway = caller(), self._gateway
        if gateway is None:
            fact = f"there is no gateway before the route '{name}'"
            raise refusal(place, "route", name, fact, "Write .then(gateway).route(…).")
        known = list(gateway.events) if isinstance(gateway, EventBasedGateway) else gateway.routes  # type: ignore[attr-defined]
        if name not in known:
            fact = f"'{gateway.id}' has no route '{name}'"
            raise refusal(place, "route", gateway.id, fact, f"It has: {', '.join(known)}.")
        self._tips = [tip for tip in self._tips if tip != (gateway.id, "")]
        items = [item for each in nodes for item in ([each] if isinstance(each, Node | str) else each)]
        if not items:
            self._tips.append((gateway.id, name))
            return self
        goes_back = isinstance(items[-1], str) and items[-1] in self._graph.nodes
        last = self._graph.chain(gateway.id, items, place, name)
        if not goes_back and not _is_closed(self._graph.nodes.get(last)):
            self._tips.append((last, ""))
        return self

    def parallel(self, branches: Sequence[Branch]) -> Flow:
        """Ways that are gone together; they meet before whatever comes next."""
        place = caller()
        at = self._tips[0][0] if len(self._tips) == 1 else ""
        known = self._graph.nodes.get(at)
        if not isinstance(known, ParallelGateway) or known.mode == "join":
            known = ParallelGateway(f"{at or self._workflow.id}_fork")
            self.then(known)
        self._tips = [(self._graph.chain(known.id, branch, place), "") for branch in branches]
        self._fork, self._gateway = known.id, None
        return self

    def transaction(self, transaction: WorkflowTransaction) -> Flow:
        """The tasks of a transaction, one after the other; a failure undoes those that had completed."""
        for task in transaction.tasks:
            self.then(task)
        return self

    def end(self, node: EndEvent | str = END) -> Workflow:
        """Where all open ways end."""
        place = caller()
        self._lead_to(self._graph.named(node, place), place)
        self._tips = []
        return self._workflow

    def _lead_to(self, target: str, place: Place) -> None:
        if self._fork:
            join = self._graph.join_of(self._fork, place)
            self._fork = ""
            for source, route in self._tips:
                self._graph.connect(source, join, place, route)
            self._tips = [(join, "")]
        for source, route in self._tips:
            self._graph.connect(source, target, place, route)


def _is_closed(node: Node | None) -> bool:
    """Whether nothing that comes next follows a node: an end, or a gateway whose ways are said elsewhere."""
    return isinstance(node, EndEvent | EventBasedGateway) or (isinstance(node, ExclusiveGateway) and bool(node.routes))


def _declared(place: Place, variables: Declared | None) -> dict[str, Variable]:
    found: dict[str, Variable] = {}
    entries = variables if isinstance(variables, Mapping) else dict.fromkeys(variables or (), "any")
    for name, about in entries.items():
        own = about if isinstance(about, Mapping) else {"type": about}
        unknown = set(own) - {"type", "required", "default"}
        if not NAME.fullmatch(str(name)) or unknown or own.get("type", "any") not in TYPES:
            fact = f"the variable {name!r} is declared as {dict(own)!r}"
            hint = f"Write {{'type': 'integer', 'required': True}}; types are {', '.join(TYPES)}."
            raise refusal(place, "variable", str(name)[:60], fact, hint)
        kind: Any = own.get("type", "any")
        found[name] = Variable(name, kind, bool(own.get("required", False)), own.get("default"))
    return found
