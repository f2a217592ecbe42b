"""Lifecycles as pictures: one instance in full, lists, versions and what lint found."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from perdure.app.lifecycles.views import (
    ActionView,
    BlockerView,
    EntryView,
    LifecycleItem,
    LifecycleStatus,
    LifecycleVersionView,
    MigrationPlan,
    MoveView,
    PendingTaskView,
    TransitionView,
)
from perdure.errors import Problem
from perdure.lifecycles.guards import GuardKind
from perdure.surfaces.cli.output import counted
from perdure.surfaces.cli.renderers.call_tables import table
from perdure.surfaces.cli.time_text import relative

MOVES = 10
"""Moves that are shown, the newest ones; `perdure lifecycles history` has all."""


def status_picture(status: LifecycleStatus) -> RenderableType:
    """One instance: where it stands, what blocks it, and where it may go."""
    overdue = ("  overdue", "red") if status.is_overdue else ("", "")
    parts: list[RenderableType] = [
        Text.assemble((status.state, "bold"), f"  {status.status}, {status.progress} %", overdue),
        Text(f"{status.subject}, in this state since {relative(status.entered_at)}", style="dim"),
    ]
    parts += [Text(f"{each.code}: {each.text}", style="red") for each in status.incidents]
    parts += [_blocker(each) for each in status.blockers]
    parts += [_transition(each) for each in status.transitions]
    parts += [Text(f"! {each.name}: {_doing(each)}", style="cyan") for each in status.actions]
    parts += [_task(each) for each in status.tasks]
    parts += [_move(each) for each in status.history[-MOVES:]]
    title = Text.assemble((f"{status.lifecycle} v{status.version}", "bold"), (f"  {status.id}", "dim"))
    return Panel(Group(*parts), title=title, title_align="left", expand=False, padding=(0, 1))


def _doing(action: ActionView) -> str:
    how = "by itself" if action.is_automatic else f"perdure lifecycles act ID {action.name}"
    return f"{action.call.text}  ({how})" if action.call is not None else action.reason


def _blocker(blocker: BlockerView) -> RenderableType:
    lines = [f"{blocker.type} {blocker.key}: {'; '.join(blocker.missing)}"]
    if blocker.resolution is not None:
        how = "by itself" if blocker.is_automatic else f"perdure lifecycles resolve ID {blocker.key}"
        lines.append(f"  {blocker.resolution.text}  ({how}, {blocker.attempts} of {blocker.max_attempts} times)")
    if blocker.reason:
        lines.append(f"  {blocker.reason}")
    return Text("\n".join(lines), style="yellow")


def _task(task: PendingTaskView) -> RenderableType:
    lines = [f"task {task.number} {task.correlation_id}: {task.status}"]
    for sent in task.deliveries:
        to, at = f" to {sent.address}" if sent.address else "", f" at {sent.sent_at}" if sent.sent_at else ""
        repeat = ", perhaps twice" if sent.is_possible_repeat else ""
        why = f": {sent.error}" if sent.error else ""
        lines.append(
            f"  {sent.status} by {sent.channel}{to}{at}{repeat} (attempt {sent.attempts}, {sent.effect_id}){why}"
        )
    return Text("\n".join(lines), style="dim")


def _move(move: MoveView) -> RenderableType:
    way = f"{move.source} → {move.target}" if move.source else f"began in {move.target}"
    why = f": {move.reason}" if move.reason else ""
    return Text(f"{move.at[:16].replace('T', ' ')}  {way} ({move.cause}, by {move.by}){why}", style="dim")


def _transition(transition: TransitionView) -> RenderableType:
    mark, style = ("→", "green") if transition.is_open else ("×", "dim")
    more = [
        word for word in (transition.role, "four eyes" if transition.four_eyes else "", transition.due or "") if word
    ]
    missing = f" misses {'; '.join(transition.missing)}" if transition.missing else ""
    return Text(f"{mark} {transition.target} ({', '.join((transition.mode, *more))}){missing}", style=style)


def list_picture(found: Sequence[LifecycleItem]) -> RenderableType:
    rows = [tuple(map(Text, _words(each))) for each in found]
    columns = ("id", "lifecycle", "subject", "state", "blocked by", "since")
    return table("Lifecycles", columns, rows, "No lifecycle was started.", lesser=("since",))


def _words(each: LifecycleItem) -> tuple[str, ...]:
    blockers, kind = ", ".join(each.blockers), f"{each.lifecycle} v{each.version}"
    return each.id, kind, each.subject, each.state, blockers, relative(each.entered_at)


def guards_picture(found: Sequence[GuardKind]) -> RenderableType:
    rows = [(Text(kind.name, style="bold"), Text(kind.description.strip()), _parameters(kind)) for kind in found]
    return table("Guards", ("kind", "holds", "parameters"), rows, "There is no kind of guard.")


def _parameters(kind: GuardKind) -> Text:
    return Text("\n".join(f"{each.name}{'' if each.is_required else '?'}: {each.type}" for each in kind.parameters))


def versions_picture(found: Sequence[LifecycleVersionView]) -> RenderableType:
    rows = [
        (Text(each.lifecycle, style="bold"), Text(str(each.version)), Text(each.status), Text(each.deployed_at))
        for each in found
    ]
    return table("Lifecycles", ("lifecycle", "version", "status", "deployed"), rows, "No lifecycle is deployed.")


def history_picture(found: Sequence[EntryView]) -> RenderableType:
    rows = [(Text(str(each.sequence)), Text(each.at), Text(each.by), Text(each.entry)) for each in found]
    return table("History", ("record", "at", "by", "entry"), rows, "Nothing happened.")


def plan_picture(plan: MigrationPlan) -> RenderableType:
    waiting = "was proposed, and a second person has to agree, to migrate" if plan.is_proposed else "would migrate"
    done = "migrated" if plan.is_done else waiting
    text = f"{plan.id} {done} from version {plan.source_version} ({plan.source_state}) to {plan.target_version}"
    lines = [f"{text} ({plan.target_state})", *(f"  task {each} ends" for each in plan.cancelled_tasks)]
    return Text("\n".join([*lines, *(f"  requires {each}" for each in plan.requirements)]))


def lint_picture(problems: Sequence[Problem], count: int) -> RenderableType:
    lines = [
        f"{each.file}:{each.line}:{each.column}: {each.code} {each.severity}: {each.reason}. {each.hint}"
        for each in problems
    ]
    return Text("\n".join([*lines, f"{counted(count, 'lifecycle')}, {counted(len(problems), 'problem')}"]))
