"""The external task list: the address of a human task in the system where people of a project look for theirs."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from perdure.app.configuration.task_list import HINT, PLACE, template_fault
from perdure.bpmn.machine.state import Instance
from perdure.errors import StoreSettingError
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.machine.human_tasks import waiting_task
from perdure.runbooks.machine.runbook_machine import is_asked
from perdure.runbooks.machine.state import Step
from perdure.sources import id_text


class TaskList(msgspec.Struct, frozen=True):
    """Links to tasks by one template; without a template there are none."""

    template: str = ""

    def link(self, tenant: str, process: str, instance: str, element: str, key: str) -> str:
        """The address of a task."""
        named = {"tenant": tenant, "process": process, "instance": instance, "element": element, "key": key}
        return PLACE.sub(lambda found: quote(named[found[1]], safe=""), self.template)

    def of_step(self, aggregate: Aggregate, number: int) -> str:
        """The open task that a step itself is: of its verb, its gate, or the question that its failure asks."""
        step: Step = aggregate.state.steps[number - 1]
        if not self.template or not _is_task(step):
            return ""
        letters, name = id_text(aggregate.id), step.links.name if step.links is not None else ""
        return self.link(aggregate.tenant, step.verb, letters, name, f"{letters}:{number}")

    def of_instance(self, aggregate: Aggregate) -> str:
        """The oldest open task of an instance."""
        state: Instance = aggregate.state
        tasks = [node for node in state.nodes.values() if node.kind == "task" and node.task is not None]
        if not self.template or not tasks:
            return ""
        letters, first = id_text(aggregate.id), min(tasks, key=lambda node: node.number)
        return self.link(aggregate.tenant, state.process, letters, first.element, f"{letters}:{first.number}")


def _is_task(step: Step) -> bool:
    links = step.links
    is_question = links is not None and bool(links.gated_at or (links.asked_at and is_asked(step)))
    return is_question or waiting_task(step) is not None


def task_list(template: str) -> TaskList:
    """Links by a template; StoreSettingError when it is none."""
    fault = template_fault(template) if template else ""
    if fault:
        raise StoreSettingError("link to", "task list", template, fault, hint=HINT)
    return TaskList(template)
