"""The check of task channels when a process is deployed: tasks that cannot be shown there are refused now."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from perdure.app.runtime import Runtime
from perdure.app.task_channels.task_cards import TaskCards
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.model import Task, nodes
from perdure.errors import RejectedError, Rejection, Transient

HINT = "Mend the rights of its token or `people` of the channel, then deploy again."

log = logging.getLogger("perdure.task_channels")


async def check_shown(runtime: Runtime, tenant: str, processes: Iterable[Deployed]) -> None:
    """Refuse processes with tasks that their channel could not show. One that is away is asked when a task opens."""
    if runtime.cards is None:
        return
    new = list(processes)
    for cards in runtime.cards.all:
        wanted = [each for each in new if _has_tasks(cards, each)]
        if not wanted or cards.settings.tenant != tenant:
            continue
        try:
            fault = await cards.channel.fault({each.login: each.account for each in cards.settings.people})
        except Transient as error:
            log.warning("channel %s could not be asked whether it shows tasks: %s", cards.settings.name, error)
            continue
        if fault:
            name = wanted[0].process.id
            fact = f"its tasks are shown on '{cards.settings.name}', and {fault}"
            raise RejectedError(Rejection("blocked", "deploy", "process", name, fact, HINT))


def _has_tasks(cards: TaskCards, deployed: Deployed) -> bool:
    process = deployed.process
    return any(
        isinstance(node, Task) and node.kind == "user" and cards.settings.wants(process.id, node.id)
        for node in nodes(process.body)
    )
