"""The contract of a process as a picture for the terminal. Data is never read as markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from perdure.app.processes.contract_view import ContractView, MappingView, WorkView
from perdure.surfaces.cli.renderers.call_tables import table


def contract_picture(view: ContractView) -> RenderableType:
    """What work, waits and people of a process are asked and bring."""
    if view.profile != "contract":
        words = f"{view.process} v{view.version} was deployed in the {view.profile} profile: it has no contract."
        return Text(f"{words}\n  → Deploy it with --profile contract.")
    title = Text.assemble((view.process, "bold"), f" v{view.version}  ", (view.workflow_type, "cyan"))
    parts: list[RenderableType] = [title, Text(f"one workflow per {view.workflow_id}", style="dim")]
    parts += _section("Work", ("element", "type", "policy", "key", "asks and brings"), [
        (each.element, each.type, _policy(each), each.idempotency_key,
         _mapped(each.inputs, each.outputs))
        for each in view.work
    ])  # fmt: skip
    parts += _section("Waits", ("element", "message", "key", "brings"), [
        (each.element, each.message, each.correlation_key, _mapped([], each.outputs)) for each in view.waits
    ])  # fmt: skip
    parts += _section("Decisions", ("element", "update", "asks and brings"), [
        (each.element, each.update, _mapped(each.inputs, each.outputs)) for each in view.gates
    ])  # fmt: skip
    parts += _section("Ways", ("from", "to", "when"), [
        (each.source, each.target, each.condition) for each in view.ways
    ])  # fmt: skip
    return Group(*parts)


def _policy(work: WorkView) -> str:
    """`default, 3×, 60 s each, 600 s in all`."""
    parts = [work.policy, f"{work.attempts}×"]
    if work.start_to_close_seconds is not None:
        parts += [f"{work.start_to_close_seconds:g} s each", f"{work.schedule_to_close_seconds:g} s in all"]
    return ", ".join(parts)


def _section(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[RenderableType]:
    listed = [[Text(cell) for cell in row] for row in rows]
    return [table(title, columns, listed, "")] if listed else []


def _mapped(inputs: Iterable[MappingView], outputs: Iterable[MappingView]) -> str:
    return "\n".join(f"{each.source} → {each.target}" for each in (*inputs, *outputs))
