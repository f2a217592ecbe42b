"""Task cards: an open task as a channel shows it, put, made anew and closed as the task is now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from perdure.access.principal_names import PLATFORM
from perdure.app.task_channels.card_mark import Mark, read_mark, shown_hash
from perdure.app.tasks.tasks import task_place
from perdure.app.tasks.views import TaskView
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.journal_entries import TaskCompleted
from perdure.bpmn.machine.state import Instance
from perdure.channels.task_channel import Card, ShownCard, TaskChannel
from perdure.channels.task_channel_settings import TaskChannelSettings
from perdure.errors import PerdureError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text, parse_id

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure

LATE = "escalated"
"""The label of a task that nobody answered in time."""
SUFFIX = "_issue_number"
TITLE_PLACES = ("instance", "process", "element", "title")


class Shown(NamedTuple):
    """A task with the card that shows it."""

    view: TaskView
    card: Card
    mark: Mark


class TaskCards:
    """The tasks of one channel, on behalf of the platform."""

    def __init__(self, perdure: Perdure, settings: TaskChannelSettings, channel: TaskChannel) -> None:
        self.settings, self.channel = settings, channel
        self.perdure = perdure.acting(tenant=settings.tenant, principal=PLATFORM)
        self._runtime = perdure.runtime

    @property
    def secrets(self) -> list[bytes]:
        return self.settings.secret.load(self.settings.name)

    @property
    def origin(self) -> Origin:
        return Origin(self.settings.tenant, self.settings.name)

    async def instance(self, letters: str) -> Aggregate | None:
        """An instance of the channel's tenant with tasks that it may want; None for anything else."""
        try:
            found = await self._runtime.kernel.recall(parse_id(letters), self.origin)
        except PerdureError:
            return None
        wanted = {each.partition("/")[0] for each in self.settings.tasks}
        return found if found.kind == INSTANCE and found.state.process in wanted else None

    def open_tasks(self, aggregate: Aggregate) -> Sequence[str]:
        """The keys of the open tasks of an instance that the channel wants."""
        state: Instance = aggregate.state
        return [
            f"{id_text(aggregate.id)}:{node.number}"
            for node in state.nodes.values()
            if node.kind == "task" and node.task is not None and self.settings.wants(state.process, node.element)
        ]

    async def shown(self, key: str) -> Shown | None:
        """An open task as it is to be shown now; None once it is over."""
        try:
            view = await self.perdure.tasks.shown(key)
        except RejectedError:
            return None
        title, text = self._title(view), self._text(view)
        mark = Mark(key, shown_hash(title, text))
        labels = (*view.labels, f"workflow-{view.process}"[:50], *([LATE] if _is_late(view) else []))
        words = self.settings.decisions
        card = Card(
            title, text, mark.text(self.secrets[0], self.settings.tenant),
            tuple(each for each in dict.fromkeys(labels) if each not in words), self._people(view),
        )  # fmt: skip
        return Shown(view, card, mark)

    def _title(self, view: TaskView) -> str:
        name = f"{view.name[:1].upper()}{view.name[1:]}"
        named = {"instance": view.instance, "process": view.process, "element": view.element, "title": name}
        text = self.settings.title
        for name in TITLE_PLACES:
            text = text.replace(f"{{{name}}}", named[name])
        return text

    def _text(self, view: TaskView) -> str:
        words = " or ".join(f"`{each}`" for each in self.settings.decisions)
        how = f"Say why in a comment, then add the label {words}. The first answer counts."
        due = f"\n\nIt is due at {view.due_at}." if view.due_at else ""
        return f"{view.body or view.name}\n\n---\n\n{how}{due}"

    def _people(self, view: TaskView) -> tuple[str, ...]:
        """The logins of those whom the task is for, as far as the channel knows them."""
        named = {view.claimed_by or view.assignee, *view.users.split(", ")} - {""}
        groups = set() if view.claimed_by else {*view.groups.split(", "), *view.awaited} - {""}
        found = [each for each in self.settings.people if each.person in named or groups.intersection(each.groups)]
        return tuple(each.login for each in found if each.person != view.requester)

    # --- putting and closing -----------------------------------------------------------------------------------------

    async def put(self, key: str) -> int:
        """Make the card of a task as the task is now, and give its number; 0 once the task is over."""
        shown = await self.shown(key)
        if shown is None or not self._wants(shown):
            return 0
        number = await self._kept(shown) or await self.channel.find(f"{shown.mark.place} ")
        if number is None:
            number = await self.channel.put(shown.card)
        else:
            await self._revised(number, shown)
        await self._keep(shown, number)
        if await self.shown(key) is None:
            await self.end(number)  # it ended while its card was made
        return number

    async def _revised(self, number: int, shown: Shown) -> None:
        before = await self.channel.read(number)
        if before is None:
            return
        # A word that was said of another text is not said of this one.
        words = tuple(each for each in before.words if each in self.settings.decisions)
        await self.channel.revise(number, shown.card, before, without=() if self.reads_as(shown, before) else words)

    def reads_as(self, shown: Shown, card: ShownCard) -> bool:
        """Whether a card outside reads as the channel puts the task now; somebody may have edited what people read."""
        marks = [shown.mark.text(secret, self.settings.tenant) for secret in self.secrets]
        return any(self.channel.shows(replace(shown.card, mark=each), card) for each in marks)

    def _wants(self, shown: Shown) -> bool:
        return self.settings.wants(shown.view.process, shown.view.element)

    async def _kept(self, shown: Shown) -> int | None:
        """The number that the data keep, where its card is that of this task and not of an earlier round."""
        number = await self.kept_number(shown.view)
        before = await self.channel.read(number) if number else None
        if before is None or f"{shown.mark.place} " not in before.text:
            return None
        return number

    async def kept_number(self, view: TaskView) -> int:
        aggregate = await self._runtime.kernel.recall(parse_id(view.instance), self.origin)
        data = await self._runtime.instances.data(aggregate)
        found = data.get(f"{view.element}{SUFFIX}") if isinstance(data, dict) else None
        return found if isinstance(found, int) else 0

    async def _keep(self, shown: Shown, number: int) -> None:
        if await self.kept_number(shown.view) == number:
            return
        id, node = task_place(shown.view.key)
        field = {f"{shown.view.element}{SUFFIX}": number}
        try:
            await self._runtime.engine.note_on_task(id, self.origin, node, field)
        except RejectedError:
            return  # it is over already

    async def end(self, number: int) -> None:
        """Close the card of a task that is over, and say how it ended."""
        before = await self.channel.read(number)
        mark = read_mark(before.text, self.secrets, self.settings.tenant) if before is not None else None
        if before is None or mark is None or not before.is_open or await self.shown(mark.task) is not None:
            return
        await self.channel.end(number, await self._how(mark.task))

    async def _how(self, key: str) -> str:
        id, number = task_place(key)
        for record in reversed(await self._runtime.instances.history(id, self.origin)):
            for entry in record.entries:
                if isinstance(entry, TaskCompleted) and entry.number == number:
                    return f"Answered by {entry.by}. The workflow goes on."
        return "The workflow went on without an answer: there is nothing left to decide here."

    async def is_own(self, card: ShownCard) -> Mark | None:
        """The task that a card shows; None where it is none of ours, or a copy of another one."""
        mark = read_mark(card.text, self.secrets, self.settings.tenant)
        if mark is None:
            return None
        shown = await self.shown(mark.task)
        if shown is None:
            return mark
        if not self._wants(shown):
            return None
        return mark if (await self.kept_number(shown.view) or await self.put(mark.task)) == card.number else None


def _is_late(view: TaskView) -> bool:
    return any(rung.is_done and rung.act == "escalate" for rung in view.ladder)


def data_of(settings: TaskChannelSettings, word: str, comment: str, form: dict[str, Any] | None) -> dict[str, Any]:
    """The answer that a word stands for, with the comment where the task asks for one."""
    data = dict(settings.decisions[word])
    asked = (form or {}).get("properties", {})
    if settings.comment and settings.comment in asked:
        data[settings.comment] = comment
    return data
