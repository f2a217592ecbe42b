"""Plans in memory: what was deployed, by its hash, the least recently used leaving first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping

import msgspec

from perdure.bpmn.machine.deployed_process import Binding, Deployed
from perdure.bpmn.machine.execution_plan import Plan, plan_of
from perdure.bpmn.machine.state import Node as Token
from perdure.bpmn.model import CallActivity, Node, Task, nodes
from perdure.payload import digest_text
from perdure.processes.contract_state import ContractState, contract_state

MAX_PLANS = 512


class MissingPlan(Exception):
    """A plan that is not in memory: to be loaded, and what needed it asked again."""

    def __init__(self, hash: bytes) -> None:
        super().__init__(hash.hex())
        self.hash = hash


class Definition(msgspec.Struct, frozen=True):
    """A deployed process as this process holds it."""

    hash: bytes
    deployed: Deployed
    plan: Plan
    elements: Mapping[str, Node]
    steps: frozenset[str]
    """The tasks and calls among them, those that only undo left out: what progress is counted in."""
    names: Mapping[str, str]
    """Of the elements, as they stand in a sentence."""
    digest: str
    """The hash as people see it."""
    contract: ContractState | None = None
    """What steps are asked and bring, of a process of the contract profile."""

    def name(self, element: str) -> str:
        """An element in a sentence; one that the definition does not know goes by its id."""
        return self.names.get(element) or _in_a_sentence(element)

    def type_of(self, node: Token) -> str:
        """What the job of a token would be made with today; empty when it has none."""
        return self.plan.type_of(node.element, node.job) if node.job is not None else ""

    def binding(self, type: str) -> Binding | None:
        return self.deployed.bindings.get(type)

    def verb_name(self, type: str) -> str:
        """What a type is pinned to, as people say it: `pay.card v2`."""
        binding = self.binding(type)
        return f"{binding.verb} v{binding.version}" if binding is not None else type


def definition_of(deployed: Deployed, hash: bytes) -> Definition:
    elements = {node.id: node for node in nodes(deployed.process.body)}
    steps = frozenset(
        id
        for id, node in elements.items()
        if isinstance(node, Task | CallActivity) and not node.is_for_compensation
    )  # fmt: skip
    names = {id: _in_a_sentence(node.name or id) for id, node in elements.items()}
    contract = contract_state(deployed)
    return Definition(hash, deployed, plan_of(deployed, hash), elements, steps, names, digest_text(hash), contract)


def _in_a_sentence(name: str) -> str:
    """As it is written, its first letter small unless it is an abbreviation."""
    return name[0].lower() + name[1:] if len(name) > 1 and name[1:2].islower() else name


class Plans(Mapping[bytes, Plan]):
    """What the machine reads. Asking for one that is not here raises MissingPlan."""

    def __init__(self, most: int = MAX_PLANS) -> None:
        self._held: OrderedDict[bytes, Definition] = OrderedDict()
        self._most = most
        self.find: Callable[[bytes], Definition | None] = self._held.get
        """The definition with a hash, where it is here."""

    def __getitem__(self, hash: bytes) -> Plan:
        plan = self.definition(hash).plan
        self._held.move_to_end(hash)  # whatever an instance is asked, its plan decides
        return plan

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, hash: object) -> bool:
        return hash in self._held

    def definition(self, hash: bytes) -> Definition:
        try:
            return self._held[hash]
        except KeyError:
            raise MissingPlan(hash) from None

    def keep(self, definition: Definition) -> None:
        self._held[definition.hash] = definition
        self._held.move_to_end(definition.hash)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
