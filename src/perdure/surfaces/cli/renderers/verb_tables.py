"""Verbs as pictures: lists, one in full, and what lint found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from perdure.errors import Problem
from perdure.surfaces.cli.output import counted
from perdure.surfaces.cli.renderers.call_tables import json_text, table
from perdure.surfaces.cli.time_text import spoken
from perdure.verbs import Verb

KIND_COLOURS = {"sync": "green", "durable": "cyan"}
TIER_COLOURS = {"benign": "green", "reviewable": "", "requires_confirmation": "yellow"}


def verbs_picture(title: str, verbs: Sequence[Verb], empty: str) -> RenderableType:
    """Verbs, one line each."""
    rows = [
        (Text(verb.name, style="bold"), _kind(verb), _tier(verb), Text(verb.definition.description)) for verb in verbs
    ]
    return table(title, ("verb", "execution", "consequence", "what it does"), rows, empty)


def verb_picture(verb: Verb) -> RenderableType:
    """One verb: what a caller and an operator need to know."""
    definition = verb.definition
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, value in _facts(verb):
        facts.add_row(label, value)
    parts: list[RenderableType] = [facts, _arguments(verb)]
    if definition.output_schema is not None:
        parts += [Text("Result", style="bold"), json_text(_without_schema_words(definition.output_schema))]
    title = Text.assemble((verb.name, "bold"), (f"  version {verb.version}", "dim"))
    return Panel(Group(*parts), title=title, title_align="left", expand=False, padding=(0, 1))


def _facts(verb: Verb) -> Iterable[tuple[str, RenderableType]]:
    definition, execution = verb.definition, verb.execution
    yield "what", Text(definition.description)
    for sentence in definition.sentences.step:
        yield "sentence", Text(sentence, style="italic")
    yield "execution", _kind(verb)
    if execution.handler:
        yield "handler", Text(execution.handler)
    yield "effects", Text(f"{execution.effects}, {execution.redelivery} when redelivered")
    if execution.kind == "sync":
        yield "attempts", Text(f"at most {execution.retry.max_attempts}")
    if execution.has_timeout:
        late = f", then {execution.escalation}" if execution.escalation else ""
        lasts = execution.timeout_text or spoken(execution.timeout_seconds or 0)
        yield "waits", Text(f"at most {lasts}{late}")
    if execution.kind == "durable":
        yield "key", Text(execution.correlation_key, style="cyan")
    yield "consequence", _tier(verb)
    if definition.index:
        yield "index", Text(", ".join(definition.index))
    if definition.override:
        yield "overridden", Text(definition.override, style="yellow")
    yield "declared", Text(f"{definition.file}:{definition.line}", style="dim")


def _arguments(verb: Verb) -> RenderableType:
    required = verb.input.schema.get("required", ())
    rows = [
        (
            Text(f":{name.replace('_', '-')}", style="bold"),
            _type(schema),
            Text("yes" if name in required else ""),
            _more(schema),
        )
        for name, schema in verb.input.properties.items()
    ]
    return table("Arguments", ("argument", "type", "required", ""), rows, "No arguments.")


def _type(schema: Any) -> Text:
    if not isinstance(schema, dict):
        return Text("anything")
    if "$ref" in schema:
        return Text(str(schema["$ref"]).rpartition("/")[2])
    kind = schema.get("format") or schema.get("type", "anything")
    return Text(" or ".join(kind) if isinstance(kind, list) else str(kind))


def _more(schema: Any) -> Text:
    if not isinstance(schema, dict):
        return Text("")
    parts = [str(schema["description"])] if "description" in schema else []
    if "enum" in schema:
        parts.append("one of " + ", ".join(str(each) for each in schema["enum"]))
    if "default" in schema:
        parts.append(f"default {schema['default']}")
    return Text("; ".join(parts), style="dim")


def _without_schema_words(schema: dict[str, Any]) -> Any:
    return {name: value for name, value in schema.items() if name not in ("$schema", "$defs")}


def _kind(verb: Verb) -> Text:
    return Text(verb.execution.kind, style=KIND_COLOURS.get(verb.execution.kind, ""))


def _tier(verb: Verb) -> Text:
    tier = verb.definition.consequence
    return Text(tier.replace("_", " "), style=TIER_COLOURS.get(tier, "red"))


def lint_picture(problems: Sequence[Problem], count: int) -> RenderableType:
    """What lint found, errors first."""
    if not problems:
        return Text(f"✓ {counted(count, 'verb')}, nothing to say against them.", style="green")
    ordered = sorted(problems, key=lambda problem: problem.severity != "error")
    errors = sum(1 for problem in problems if problem.severity == "error")
    parts: list[RenderableType] = []
    for problem in ordered:
        colour = "red" if problem.severity == "error" else "yellow"
        field = f" {problem.field}:" if problem.field else ""
        parts.append(
            Text.assemble(
                (f"{problem.severity} ", f"bold {colour}"),
                (problem.where(), "dim"),
                f" {problem.code}:{field} {problem.reason}.",
            )
        )
        if problem.hint:
            parts.append(Text.assemble(("  → ", "cyan"), problem.hint))
    parts.append(Text(f"{counted(errors, 'error')}, {counted(len(problems) - errors, 'warning')}", style="bold"))
    return Group(*parts)
