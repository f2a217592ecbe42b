"""Flag writers of a scenario step: the intake that its wait declares, or any writer the flag allows."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.model import Definitions, Event, MessageTrigger, Node, SignalTrigger, Task, nodes

ANYONE = "scenario.intake"
"""Stands for a writer that each flag permits."""
_Wait = tuple[str, str]


class Intakes:
    """The intakes of the models deployed; a wait that declares none, or a name with several, is anyone's."""

    def __init__(self) -> None:
        self._known: dict[_Wait, set[str]] = {}

    def learn(self, definitions: Definitions) -> None:
        for process in definitions.executable():
            for node in nodes(process.body):
                for wait in _waits(definitions, node):
                    self._known.setdefault(wait, set()).add(node.properties.get("intake", ""))

    def of_task(self, element: str) -> str:
        return self._of("task", element)

    def of_message(self, name: str) -> str:
        return self._of("message", name)

    def of_signal(self, name: str) -> str:
        return self._of("signal", name)

    def _of(self, *wait: str) -> str:
        known = self._known.get((wait[0], wait[1]), set())
        return next(iter(known)) or ANYONE if len(known) == 1 else ANYONE


def _waits(definitions: Definitions, node: Node) -> Iterator[_Wait]:
    names = {each.id: each.name for each in definitions.messages} | {each.id: each.name for each in definitions.signals}
    if isinstance(node, Task):
        yield "task", node.id
        if node.message:
            yield "message", names.get(node.message) or node.message
    for trigger in node.triggers if isinstance(node, Event) else ():
        match trigger:
            case MessageTrigger(message):
                yield "message", names.get(message) or message
            case SignalTrigger(signal):
                yield "signal", names.get(signal) or signal
            case _:
                continue
