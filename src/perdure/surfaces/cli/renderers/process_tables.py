"""Processes, instances and tasks as pictures for the terminal. Data is never read as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from perdure.app.instances.views import InstanceView
from perdure.app.override_views import override_text
from perdure.app.runbooks.usage_views import usage_text
from perdure.app.tasks.views import RungView, TaskView
from perdure.engine import Deployment, MigrationPlan, MovePlan, ProcessVersion
from perdure.engine.engine_url import EMBEDDED
from perdure.errors import Problem
from perdure.surfaces.cli.output import counted
from perdure.surfaces.cli.renderers.call_tables import json_text, table
from perdure.surfaces.cli.terminal_forms import field_line
from perdure.surfaces.cli.time_text import relative

COLOURS = {
    "active": "blue", "suspended": "yellow", "completed": "green", "failed": "red", "cancelled": "yellow",
    "terminated": "yellow", "compensating": "magenta", "compensated": "magenta", "compensation_failed": "red",
}  # fmt: skip
SIGNS = {"active": "▶", "suspended": "‖", "completed": "✓", "failed": "✗", "cancelled": "■", "terminated": "■"}
SHORT_HASH = 19
SHOWN_WARNINGS = 3


def state_text(view: InstanceView) -> Text:
    """A state with its sign and colour; an open incident makes it red."""
    word = f"{SIGNS.get(view.state, '●')} {view.state.replace('_', ' ')}"
    if view.incidents:
        return Text(f"{word}, needs a person", style="red")
    return Text(word, style=COLOURS.get(view.state, ""))


def _grid(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for label, value in rows:
        made.add_row(label, value)
    return made


def _panel(title: Text, body: RenderableType, colour: str) -> Panel:
    return Panel(body, title=title, title_align="left", border_style=colour, expand=False, padding=(0, 1))


def instance_picture(view: InstanceView) -> RenderableType:
    """One instance: how it stands, where its tokens are, what it waits for."""
    title = Text.assemble(state_text(view), ("  ", ""), (view.process, "bold"), f" v{view.version}")
    return _panel(title, _grid(_facts(view)), "red" if view.incidents else COLOURS.get(view.state, "white"))


def _facts(view: InstanceView) -> Iterable[tuple[str, RenderableType]]:
    yield "id", Text(view.id, style="bold")
    yield "progress", Text(view.progress)
    if view.engine not in ("", EMBEDDED):
        yield "engine", Text.assemble(view.engine, (f"  {view.engine_link}", "dim") if view.engine_link else "")
    if view.parent.startswith("node:"):
        yield "called by", Text(view.parent.split(":")[1], style="bold")
    for token in view.tokens:
        held = f", held by {token.claimed_by}" if token.claimed_by else f", {token.progress}" if token.progress else ""
        repeat = f", iteration {token.iteration}" if token.iteration else ""
        calls = Text.assemble(" calls ", (token.called, "bold")) if token.called else Text()
        since = f"{token.name} ({token.kind}{repeat}{held}) since {relative(token.since)}"
        yield f"token {token.number}", Text.assemble(since, calls)
    for wait in view.waits:
        name = Text.assemble(" ", (wait.name, "bold cyan")) if wait.name else Text()
        key = Text.assemble(" under ", (wait.key, "bold cyan")) if wait.key else Text()
        due = f", due {relative(wait.due_at)}" if wait.due_at else ""
        yield "waits for", Text.assemble(wait.kind, name, key, f": {wait.text}{due}")
    for incident in view.incidents:
        yield f"incident {incident.token}", Text.assemble((incident.code, "red"), f"  {incident.text}")
    for override in view.overrides:
        yield f"override {override.number}", Text(f"{override.state}: {override_text(override)}")
    if view.error is not None:
        yield "error", Text.assemble((view.error.code, "red"), f"  {view.error.message}")
    if view.usage is not None:
        yield "agents used", Text(usage_text(view.usage))
    if view.completed:
        yield "done", Text(", ".join(view.completed))
    if view.flags:
        yield "flags", json_text(view.flags)
    if view.data:
        yield "data", json_text(view.data)
    if view.business_key:
        yield "business key", Text(view.business_key)
    ended = f", ended {relative(view.ended_at)}" if view.ended_at else ""
    yield "started", Text(f"{relative(view.started_at)} by {view.principal}{ended}")


def instances_picture(found: Sequence[InstanceView]) -> RenderableType:
    rows = [
        (_short_state(each), Text(f"{each.process} v{each.version}"), Text(each.id), Text(each.progress),
         Text(relative(each.started_at)))
        for each in found
    ]  # fmt: skip
    columns = ("state", "process", "id", "progress", "started")
    return table("Instances", columns, rows, "No instances.", lesser=("started",))


def _short_state(view: InstanceView) -> Text:
    """A state for lists: the word `stuck` says that a person is needed."""
    return Text("✗ stuck", style="red") if view.incidents else state_text(view)


def deployments_picture(found: Sequence[Deployment]) -> RenderableType:
    lines: list[RenderableType] = []
    for each in found:
        what = "deployed" if each.is_new else "is deployed already"
        warned = f" with {counted(len(each.findings), 'warning')}" if each.findings else ""
        hash = (each.hash[:SHORT_HASH], "dim")
        lines.append(Text.assemble(("✓ ", "green"), (each.process, "bold"), f" v{each.version} {what}{warned}  ", hash))
        lines.extend(_warning(problem) for problem in each.findings[:SHOWN_WARNINGS])
        if len(each.findings) > SHOWN_WARNINGS:
            rest = f"  … and {len(each.findings) - SHOWN_WARNINGS} more; `perdure lint` and `perdure prove` tell all"
            lines.append(Text(rest, style="dim"))
    return Group(*lines) if lines else Text("Nothing to deploy: no executable process.", style="dim")


def _warning(problem: Problem) -> Text:
    element = f"{problem.field}: " if problem.field else ""
    return Text.assemble(("  ⚠ ", "yellow"), (problem.code, "yellow"), f"  {problem.where()} {element}{problem.reason}")


def versions_picture(title: str, found: Sequence[ProcessVersion]) -> RenderableType:
    is_several = any(each.engine not in ("", EMBEDDED) for each in found)
    rows = [
        (Text(each.process, style="bold"), Text(f"v{each.version}{' (latest)' if each.is_latest else ''}"),
         Text(each.status), Text(each.verb), *([Text(each.engine)] if is_several else []),
         Text(each.hash[:SHORT_HASH], style="dim"), Text(f"{relative(each.deployed_at)} by {each.by}"))
        for each in found
    ]  # fmt: skip
    columns = ("process", "version", "status", "verb", *(["begins on"] if is_several else []), "hash", "deployed")
    return table(title, columns, rows, "No process is deployed.", lesser=("hash", "deployed"))


def process_picture(view: Any) -> RenderableType:
    """What a process is made of."""
    parts: list[RenderableType] = [_panel(
        Text.assemble((view.process, "bold"), f" v{view.version} ({view.status})"),
        _grid([("hash", Text(view.hash)), ("profile", Text(view.profile)), ("verb", Text(view.verb or "–")),
               ("begins on", Text(view.engine or EMBEDDED))]), "cyan",
    )]  # fmt: skip
    rows = [(Text(each["id"]), Text(each["kind"]), Text(each["name"]), Text(each["type"])) for each in view.elements]
    columns = ("element", "kind", "name", "verb")
    parts.append(table("Elements", columns, rows, "It has no elements.", lesser=("name",)))
    if view.flags:
        flags = [(Text(name), Text(_contract(each))) for name, each in view.flags.items()]
        parts.append(table("Flags", ("flag", "contract"), flags, ""))
    if view.merge:
        rules = [(Text(path), Text(rule)) for path, rule in view.merge.items()]
        parts.append(table("Merge rules", ("path", "rule"), rules, ""))
    if view.bindings:
        bound = [
            (Text(name), Text(f"{each['verb']} v{each['version']}"), Text(_policy(each["policy"])))
            for name, each in view.bindings.items()
        ]
        parts.append(table("Bindings", ("type", "verb", "policy"), bound, ""))
    own = [
        (Text(each["id"]), Text(counted(int(each["max_attempts"]), "attempt")))
        for each in view.elements
        if "max_attempts" in each
    ]
    if own:
        parts.append(table("Attempts that tasks set themselves", ("element", "attempts"), own, ""))
    return Group(*parts)


def _policy(retry: dict[str, Any]) -> str:
    """`3 attempts, exponential from 2 s to 30 s, after transient_external`."""
    attempts = counted(retry["max_attempts"], "attempt")
    if retry["max_attempts"] == 1:
        return attempts
    delay = f"{retry['backoff']} from {retry['base_delay_seconds']:g} s to {retry['max_delay_seconds']:g} s"
    return f"{attempts}, {delay}, after {', '.join(retry['retry_on'])}"


def _contract(flag: dict[str, Any]) -> str:
    """`enum of pending, approved; initial pending; once`."""
    values = flag.get("values") or ()
    told = [f"{flag.get('type', '')} of {', '.join(map(str, values))}" if values else str(flag.get("type", ""))]
    for name, value in flag.items():
        if name not in ("type", "values"):
            told.append(name if value is True else f"{name} {value}")
    return "; ".join(told)


def migration_picture(plan: MigrationPlan) -> RenderableType:
    rows: list[tuple[str, RenderableType]] = [("instance", Text(plan.instance, style="bold"))]
    rows.append(("to", Text(f"{plan.process} v{plan.version}")))
    for move in plan.moves:
        same = move.before == move.after
        rows.append((f"token {move.token}", Text(move.before if same else f"{move.before} → {move.after}")))
    for label, each in (
        ("keeps timers", plan.kept_timers), ("keeps messages", plan.kept_messages),
        ("ends waits", plan.ended_waits), ("new waits", plan.new_waits), ("goes around", plan.goes_around),
    ):  # fmt: skip
        if each:
            rows.append((label, Text(", ".join(each))))
    for verb in plan.new_verbs:
        when = " when it is given again" if verb.is_running else ""
        rows.append((f"verb of {verb.element}", Text(f"{verb.before} → {verb.after}{when}")))
    title = Text("would migrate (nothing was changed)" if plan.is_dry else "✓ migrated", style="bold")
    return _panel(title, _grid(rows), "yellow" if plan.is_dry else "green")


def move_picture(plan: MovePlan) -> RenderableType:
    rows: list[tuple[str, RenderableType]] = [("instance", Text(plan.instance, style="bold"))]
    rows += [("process", Text(plan.process)), ("from", Text(plan.carrier)), ("to", Text(plan.to))]
    rows += [("waits for", Text(", ".join(plan.waits))), ("timers", Text(str(plan.timers)))]
    rows += [("jobs that are ready", Text(str(plan.jobs))), ("records", Text(str(plan.version)))]
    if plan.shadow:
        rows.append(("shadow run", Text("the journal leads to the same state there")))
    if plan.certificate:
        rows.append(("certificate", Text(plan.certificate)))
    title = Text("would move (nothing was changed)" if plan.is_dry else "✓ moved", style="bold")
    return _panel(title, _grid(rows), "yellow" if plan.is_dry else "green")


def task_picture(view: TaskView) -> RenderableType:
    rows: list[tuple[str, RenderableType]] = [("key", Text(view.key, style="bold cyan"))]
    rows.append(("process", Text(f"{view.process}, instance {view.instance}")))
    who = [
        ("assigned to", view.assignee), ("groups", view.groups), ("users", view.users), ("claimed by", view.claimed_by),
        ("delegated by", ", ".join(view.delegated_by)), ("four eyes", view.requester and f"not {view.requester}"),
        ("so far", view.progress),
    ]  # fmt: skip
    rows.extend((label, Text(value)) for label, value in who if value)
    rows.extend((f"said {each.by}", json_text(each.data)) for each in view.given if each.data is not None)
    if view.due:
        rows.append(("due", Text(relative(view.due_at) if view.due_at else view.due, "red" if view.is_overdue else "")))
    rows.append(("open since", Text(relative(view.since))))
    rows.extend(("✓ then" if each.is_done else "then", Text(_rung(each))) for each in view.ladder)
    if view.link:
        rows.append(("task list", Text(view.link, style="underline")))
    if view.question is not None:
        rows.append(("asked by", Text(view.question.agent)))
        rows.extend([("question", json_text(view.question.data))] if view.question.data is not None else [])
    if view.body:
        rows.append(("", Text(view.body)))
    if view.proposal is not None:
        proposal = view.proposal
        rows.append(("proposal", json_text(proposal.data)))
        rows.extend(("adds", json_text(each)) for each in (proposal.add if isinstance(proposal.add, list) else []))
        rows.extend(("skips", Text(each)) for each in proposal.skip)
        rows.append(("by", Text(f"{proposal.agent}, but {proposal.why}")))
    if view.known:
        rows.append(("known", json_text(view.known)))
    if view.form:
        rows.append(("form", Text("\n".join(field_line(name, view.form) for name in view.form.get("properties", {})))))
    return _panel(Text(view.name, style="bold"), _grid(rows), "cyan")


def _rung(rung: RungView) -> str:
    return f"{relative(rung.at)}: {rung.act}{f' to {rung.to}' if rung.to else ''}"


def tasks_picture(found: Sequence[TaskView]) -> RenderableType:
    rows = [
        (Text(each.name), Text(each.key, style="bold"), Text(each.process), Text(_who(each)), _due(each),
         Text(relative(each.since)))
        for each in found
    ]  # fmt: skip
    columns = ("task", "task key", "process", "who", "due", "since")
    return table("Tasks", columns, rows, "Nobody is asked for anything.", lesser=("process", "due"))


def _due(view: TaskView) -> Text:
    return Text(relative(view.due_at) if view.due_at else view.due, "red" if view.is_overdue else "")


def _who(view: TaskView) -> str:
    if view.claimed_by:
        return f"{view.claimed_by} (claimed)"
    return view.progress or view.assignee or view.groups or view.users or "anyone"
