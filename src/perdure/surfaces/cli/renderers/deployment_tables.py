"""The impact of a deployment as a picture for the terminal. Data is never read as markup."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from perdure.app.deployments.views import (
    CarrierImpact,
    DeploymentImpact,
    Impact,
    ProcessImpact,
    StandingView,
    StateImpact,
    VerbImpact,
)
from perdure.surfaces.cli.output import counted
from perdure.surfaces.cli.renderers.call_tables import table

WORDS: dict[Impact, tuple[str, str]] = {
    "goes_on": ("✓ goes on", "green"),
    "migrates": ("→ migrates", "blue"),
    "stays_pinned": ("✗ stays pinned", "red"),
}


def impact_picture(found: DeploymentImpact) -> RenderableType:
    """Each process with its states, then texts of verbs and builds of carriers that something runs on."""
    parts: list[RenderableType] = [part for each in found.processes for part in _process(each)]
    if found.verbs:
        rows = [_verb(each) for each in found.verbs]
        parts.append(table("Verbs that running work is pinned to", ("verb", "verdict", "work", "why"), rows, ""))
    if found.carriers:
        rows = [_carrier(each) for each in found.carriers]
        parts.append(table("Builds of carrier workers", ("build", "verdict", "instances", "why"), rows, ""))
    parts += [Text(f"Not decided: {each}.", style="yellow") for each in found.bounds]
    parts.append(Text.assemble(("Nothing was changed. ", "dim"), _word(found.verdict), (" is the gravest.", "dim")))
    return Group(*parts)


def _word(verdict: Impact) -> Text:
    word, colour = WORDS[verdict]
    return Text(word, style=colour)


def _process(found: ProcessImpact) -> Iterator[RenderableType]:
    version = f"version {found.version}" if found.is_deployed else "the new version"
    head = f"{found.process} under {version}: {counted(found.instances, 'running instance')}"
    if not found.states:
        yield Text(head, style="bold")
        return
    rows = [_state(each) for each in found.states]
    yield table(head, ("instances", "on", "standing at", "verdict", "how, or why not"), rows, "")


def _state(found: StateImpact) -> tuple[Text, ...]:
    return (
        Text(str(found.instances)), Text(f"v{found.version}"), Text(_standing(found)), _word(found.verdict),
        Text("\n".join(_told(found))),
    )  # fmt: skip


def _standing(found: StateImpact) -> str:
    told = [_token(each) for each in found.standing]
    told += [f"{name} = {value}" for name, value in found.flags.items()]
    return "\n".join(told + ["suspended"] * found.is_suspended)


def _token(each: StandingView) -> str:
    many = f" ×{each.count}" if each.count > 1 else ""
    return f"{each.element} ({each.kind}){many}{f', {each.incident}' if each.incident else ''}"


def _told(found: StateImpact) -> Iterator[str]:
    if found.reason:
        yield f"{found.element}: {found.reason}" if found.element and found.code else found.reason
    for step in found.steps:
        yield f"  then {step}"
    for old, new in found.mapping.items():
        yield f"--map {old}={new}"
    if found.goes_around:
        yield f"leaves without an answer: {', '.join(found.goes_around)}"
    yield f"e.g. {found.examples[0]}"


def _verb(found: VerbImpact) -> tuple[Text, ...]:
    work = [counted(count, thing) for count, thing in ((found.steps, "step"), (found.instances, "instance")) if count]
    name = Text(f"{found.verb} v{found.version}")
    return name, _word(found.verdict), Text(", ".join(work)), Text(found.reason)


def _carrier(found: CarrierImpact) -> tuple[Text, ...]:
    return Text(f"{found.engine} {found.build}"), _word(found.verdict), Text(str(found.instances)), Text(found.reason)
