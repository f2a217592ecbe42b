"""Calls, events and lists as pictures for the terminal. Data is never read as markup."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.highlighter import JSONHighlighter
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from perdure.app import CallView, WaitingFor
from perdure.app.calls.views import CarrierView
from perdure.app.lists.cursors import Page
from perdure.app.lists.list_rows import RunbookRow
from perdure.app.override_views import override_text
from perdure.app.runbooks.usage_views import usage_text
from perdure.surfaces.cli.output import encode
from perdure.surfaces.cli.time_text import relative

COLOURS = {
    "completed": "green",
    "failed": "red",
    "cancelled": "yellow",
    "parked": "cyan",
    "escalated": "magenta",
    "executing": "blue",
    "incident": "red",
}
SIGNS = {"completed": "✓", "failed": "✗", "cancelled": "■", "parked": "◷", "escalated": "▲", "executing": "▶"}
MAX_CELL = 60
NARROW = 100
"""A terminal of fewer columns leaves out what matters less."""
SHORT = frozenset({
    "#", "id", "call", "task key", "state", "entry", "by", "when", "since", "asked", "received", "started", "version",
    "status",
})  # fmt: skip
"""Columns that make no sense broken."""


def state_text(state: str, view: CallView | None = None) -> Text:
    """A state with its sign and colour; a call with an open incident is red whatever its state."""
    stuck = view is not None and view.waiting_for is not None and view.waiting_for.kind == "incident"
    word = f"{SIGNS.get(state, '●')} {state}"
    if stuck:
        return Text(f"{word}, needs a person", style=COLOURS["incident"])
    return Text(word, style=COLOURS.get(state, ""))


def call_picture(view: CallView) -> RenderableType:
    """One call: what it is, how it stands, what it waits for."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    for label, value in _facts(view):
        rows.add_row(label, value)
    title = Text.assemble(state_text(view.state, view), ("  ", ""), (view.verb, "bold"))
    body: list[RenderableType] = [Text(view.sentence, style="italic"), Text("")] if view.sentence else []
    colour = COLOURS.get(view.state, "white")
    return Panel(Group(*body, rows), title=title, title_align="left", border_style=colour, expand=False, padding=(0, 1))


def _facts(view: CallView) -> Iterable[tuple[str, RenderableType]]:
    yield "id", Text(view.id, style="bold")
    if view.waiting_for is not None:
        yield from _waiting(view.waiting_for)
    if view.progress:
        yield "progress", Text(view.progress)
    yield from _carried(view)
    if view.erased_at:
        yield "erased", Text(relative(view.erased_at))
    if view.args:
        yield "arguments", json_text(view.args)
    if view.state == "completed" and view.erased_at is None:
        yield "result", json_text(view.result)
    if view.error is not None:
        yield "error", Text.assemble((view.error.code, "red"), f"  {view.error.message}")
    for override in view.overrides:
        yield f"override {override.number}", Text(f"{override.state}: {override_text(override)}")
    for each in view.amendments:
        by = f"approved by {each.approved_by}" if each.approved_by else "waits for somebody else's approval"
        yield f"amendment {each.number}", Text(f"{each.target}: {each.reason} ({each.by}; {by})")
    if view.proposal is not None:
        yield "proposal", json_text(view.proposal.data)
        yield "by", Text(f"{view.proposal.agent}, but {view.proposal.why}")
    if view.usage is not None:
        yield "agents used", Text(usage_text(view.usage))
    if view.attempt is not None and view.attempt.attempt > 1:
        yield "attempts", Text(str(view.attempt.attempt))
    ended = f", ended {relative(view.ended_at)}" if view.ended_at else ""
    yield "asked", Text(f"{relative(view.started_at)} by {view.principal}{ended}")


def _carried(view: CallView) -> Iterable[tuple[str, RenderableType]]:
    if view.mode and view.mode != "sync":
        yield "carried", Text(carried_text(view.mode, view.carrier))
    if view.task_link:
        yield "task list", Text(view.task_link, style="underline")


def carried_text(mode: str, carrier: CarrierView | None) -> str:
    """How a step is carried, and by which process of which engine."""
    by = f" by {carrier.process} version {carrier.version} ({carrier.engine} engine)" if carrier is not None else ""
    return mode.replace("_", " ") + by


def _waiting(waiting: WaitingFor) -> Iterable[tuple[str, RenderableType]]:
    due = f", {'again' if waiting.kind == 'retry' else 'due'} {relative(waiting.due_at)}" if waiting.due_at else ""
    since = f" since {relative(waiting.since)}" if waiting.since else ""
    yield "waits for", Text(f"{waiting.kind}{since}{due}".replace("since just now", "from now"))
    if waiting.key:
        yield "key", Text(waiting.key, style="bold cyan")
    if waiting.code:
        yield "because", Text.assemble((waiting.code, "red"), f"  {waiting.text}")
    elif waiting.text and waiting.kind in ("completion", "gate"):
        yield "so far", Text(waiting.text)


def json_text(value: Any) -> RenderableType:
    """JSON in colour: on one line when it is short."""
    line = encode(value)
    if len(line) > MAX_CELL:
        line = json.dumps(json.loads(line), indent=2, ensure_ascii=False)
    return JSONHighlighter()(Text(line))


class Listing:
    """A table that leaves out its `lesser` columns where there is not much room."""

    def __init__(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[RenderableType]], lesser: Sequence[str] = ()
    ) -> None:
        self._title, self._columns, self._rows, self._lesser = title, columns, rows, frozenset(lesser)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lesser = self._lesser if options.max_width < NARROW else frozenset()
        kept = [place for place, name in enumerate(self._columns) if name not in lesser]
        made = Table(
            box=box.SIMPLE_HEAD, header_style="bold", title=self._title, title_justify="left", title_style="bold"
        )  # fmt: skip
        for place in kept:
            made.add_column(self._columns[place], overflow="fold", no_wrap=self._columns[place] in SHORT)
        for row in self._rows:
            made.add_row(*(row[place] for place in kept))
        yield made


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[RenderableType]], empty: str,
    lesser: Sequence[str] = (),
) -> RenderableType:  # fmt: skip
    """A list; one sentence when there is nothing in it. `lesser` columns are for wide terminals only."""
    listed = list(rows)
    return Listing(title, columns, listed, lesser) if listed else Text(empty, style="dim")


def calls_picture(title: str, views: Sequence[CallView], empty: str) -> RenderableType:
    """Several calls, one line each."""
    return table(
        title,
        ("state", "verb", "id", "waits under", "asked"),
        [
            (
                state_text(view.state, view), Text(view.verb), Text(view.id),
                Text(view.waiting_for.key if view.waiting_for else ""), Text(relative(view.started_at)),
            )
            for view in views
        ],
        empty,
    )  # fmt: skip


def call_list_picture(page: Page[RunbookRow]) -> RenderableType:
    """A page of calls, one line each, and how the next page is asked for."""
    rows = [
        (
            state_text(each.state), Text(each.verb), Text(each.id), Text(each.title or ", ".join(each.waiting)),
            Text(relative(each.started_at) if each.started_at else ""),
        )
        for each in page.items
    ]  # fmt: skip
    listed = table("Calls", ("state", "verb", "id", "about", "asked"), rows, "No calls.", ("asked",))
    return Group(listed, Text(f"more: --after {page.next}", style="dim")) if page.next else listed


def lines(*parts: str | tuple[str, str]) -> Text:
    """A short remark."""
    return Text.assemble(*parts)
