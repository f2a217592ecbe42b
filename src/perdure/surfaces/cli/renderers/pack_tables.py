"""Packs as pictures: lists, one in full, and what lint found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from perdure.errors import Problem
from perdure.packs.definition import Pack, Question, Template
from perdure.surfaces.cli.output import counted
from perdure.surfaces.cli.renderers import verb_tables
from perdure.surfaces.cli.renderers.call_tables import table

EMPTY = "No packs are declared here. Put one into the folder 'packs' beside the definitions."


def packs_picture(packs: Sequence[Pack]) -> RenderableType:
    """Packs, one line each."""
    rows = [(Text(pack.id, style="bold"), Text(pack.version), Text(pack.description or pack.name)) for pack in packs]
    return table("Packs", ("pack", "version", "what it is for"), rows, EMPTY)


def pack_picture(pack: Pack) -> RenderableType:
    """One pack: what it asks, what it plans, what it allows."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, value in _facts(pack):
        facts.add_row(label, value)
    parts: list[RenderableType] = [facts, _questions(pack), *(_template(each) for each in pack.templates)]
    title = Text.assemble((pack.id, "bold"), (f"  version {pack.version}", "dim"))
    return Panel(Group(*parts), title=title, title_align="left", expand=False, padding=(0, 1))


def _facts(pack: Pack) -> Iterable[tuple[str, RenderableType]]:
    yield "name", Text(pack.name)
    if pack.description:
        yield "what", Text(pack.description)
    for phrase in pack.invocation_phrases:
        yield "say", Text(phrase, style="italic")
    lists = (
        ("needs", pack.required_context), ("uses", pack.optional_context), ("allows", pack.allowed_verbs),
        ("forbids", pack.forbidden_verbs), ("sections", tuple(each.title for each in pack.section_layout)),
        ("done when", tuple(each.text for each in pack.definition_of_done)),
    )  # fmt: skip
    for label, words in lists:
        if words:
            yield label, Text(", ".join(words))
    if pack.handoff_target:
        yield "hands over to", Text(pack.handoff_target, style="cyan")
    yield "hash", Text(pack.hash, style="dim")
    yield "declared", Text(pack.file, style="dim")


def _questions(pack: Pack) -> RenderableType:
    rows = [
        (Text(each.field, style="bold"), Text(each.answer_kind), Text("yes" if each.is_required else ""), _asked(each))
        for each in pack.questions
    ]
    return table("Questions", ("answer", "kind", "required", "question"), rows, "No questions.")


def _asked(question: Question) -> Text:
    text = Text(question.prompt)
    if question.default is not None:
        text.append(f" [{question.default}]", style="dim")
    if question.ask_when is not None:
        text.append(f" when {question.ask_when.text}", style="dim")
    return text


def _template(template: Template) -> RenderableType:
    rows = []
    for number, step in enumerate(template.steps, 1):
        more = [f"for each of {'.'.join(step.repeat_for)}"] if step.repeat_for else []
        more += [f"when {step.when.text}"] if step.when is not None else []
        more += [f"gate {step.gate}"] if step.gate else []
        rows.append((Text(str(number)), Text(step.verb, style="bold"), Text("; ".join(more), style="dim")))
    title = f"Template {template.template_id}" + (f": {template.when_to_use}" if template.when_to_use else "")
    return table(title, ("step", "verb", ""), rows, "No steps.")


def lint_picture(problems: Sequence[Problem], count: int) -> RenderableType:
    """What lint found, errors first."""
    if not problems:
        return Text(f"✓ {counted(count, 'pack')}, nothing to say against them.", style="green")
    return verb_tables.lint_picture(problems, count)
