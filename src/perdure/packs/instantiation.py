"""Answers and context become entries: the template's steps, repeated, left out and filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from perdure.packs.conditions import is_met, look_up
from perdure.packs.definition import Pack, Template, TemplateStep
from perdure.packs.placeholders import Placeholder, fill, parse_template, placeholders_in
from perdure.packs.questions import labels_of, names_of, with_defaults
from perdure.runbooks.drafts.draft import Change, Draft, Entry, add, free_name, with_sentence
from perdure.runbooks.plan import Path, Provenance, Reference
from perdure.verbs.catalogue import Catalogue

MAX_ITEMS = 1000


def choose_template(pack: Pack, draft: Draft, template_id: str = "") -> Template | None:
    """The one named, else the first whose condition holds, else the first without one."""
    if template_id:
        return pack.template(template_id)
    names = names_of(draft)
    chosen = [each for each in pack.templates if each.when is not None and is_met(each.when.condition, names)]
    chosen += [each for each in pack.templates if each.when is None]
    return chosen[0] if chosen else None


def instantiate(pack: Pack, template: Template, draft: Draft, catalogue: Catalogue) -> Change:
    """The draft with the template's entries, pinned to pack and template."""
    full = msgspec.structs.replace(draft, answers=with_defaults(pack, draft), pack=pack.pin(template))
    made = list(_Instance(pack, template, full, catalogue).entries())
    change = add(full, made)
    whole = msgspec.structs.replace(change.draft, title=summary(pack, change.draft), is_edited=bool(draft.entries))
    return Change(whole, f"Planned {len(made)} steps from {pack.name}")


def summary(pack: Pack, draft: Draft) -> str:
    """The whole plan in one sentence."""
    if not pack.pack_summary_template:
        return pack.description or pack.name
    return str(fill(pack.pack_summary_template, labels_of(draft)))


class _Instance:
    def __init__(self, pack: Pack, template: Template, draft: Draft, catalogue: Catalogue) -> None:
        self._pack = pack
        self._template = template
        self._draft = draft
        self._catalogue = catalogue
        self._names = names_of(draft)
        self._taken = [entry.name for entry in draft.entries]
        self._made: dict[str, list[str]] = {}
        """The entries each named step became."""

    def entries(self) -> Iterator[Entry]:
        before: list[str] = []
        for step in self._template.steps:
            made = [self._entry(step, item, before) for item in self._items(step) if self._is_wanted(step, item)]
            if step.name:
                self._made[step.name] = [entry.name for entry in made]
            if made:
                before = [entry.name for entry in made]
            yield from made

    def _items(self, step: TemplateStep) -> list[Any]:
        if not step.repeat_for:
            return [None]
        found = look_up(self._names, step.repeat_for)
        return list(found)[:MAX_ITEMS] if isinstance(found, list | tuple) else []

    def _is_wanted(self, step: TemplateStep, item: Any) -> bool:
        return step.when is None or is_met(step.when.condition, {**self._names, "item": item})

    def _entry(self, step: TemplateStep, item: Any, before: list[str]) -> Entry:
        names = {**self._names, "item": item}
        references: list[Reference] = []
        args = {name: self._filled(value, names, (name,), references) for name, value in step.args.items()}
        referred = {each.at[0] for each in references}
        args = {name: value for name, value in args.items() if value is not None or name in referred}
        verb = self._catalogue.find(step.verb)
        name = free_name(step.name or step.verb.rpartition(".")[2].replace("-", "_"), self._taken)
        self._taken.append(name)
        after = [made for each in step.after for made in self._made.get(each, ())]
        entry = Entry(
            name=name,
            verb=verb.name if verb is not None else step.verb,
            args=args,
            references=tuple(references),
            after=tuple(dict.fromkeys(after + (before if self._template.ordered else []))),
            section=self._pack.section_of(step.verb),
            provenance={each: self._provenance(step.args[each]) for each in args},
            labels=self._labels(step, args),
            on_failure=step.on_failure,
            gate=step.gate,
            reevaluate=step.reevaluate,
        )
        return with_sentence(entry, self._catalogue)

    def _filled(self, value: Any, names: Mapping[str, Any], at: Path, references: list[Reference]) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(each, names, (*at, key), references) for key, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each, names, (*at, place), references) for place, each in enumerate(value)]
        if not isinstance(value, str):
            return value
        lone = lone_placeholder(value)
        if lone is None or lone.root != "steps":
            return fill(value, names)
        made = self._made.get(lone.path[1], [])
        if made:
            references.append(Reference(at, made[0], lone.path[2:]))
        return None

    def _provenance(self, value: Any) -> Provenance:
        """An argument is as sure as the least sure of what it is made of."""
        found: list[Provenance] = []
        for each in placeholders_in(value):
            answers = self._draft.answers
            if each.root == "item" or (each.root == "answers" and each.path[1] in answers):
                found.append(answers[each.path[1]].provenance if each.root == "answers" else "user_provided")
            elif each.root == "context":
                found.append("inferred_from_context")
        order: tuple[Provenance, ...] = ("user_provided", "copied_from_previous", "inferred_from_context")
        return next((each for each in order if each in found), "template_default")

    def _labels(self, step: TemplateStep, args: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in args:
            lone = lone_placeholder(step.args[name])
            answer = self._draft.answers.get(lone.path[1]) if lone is not None and lone.root == "answers" else None
            if answer is not None and answer.label and answer.label != answer.value:
                found[name] = answer.label
        return found


def lone_placeholder(value: Any) -> Placeholder | None:
    """The placeholder that is all of a text."""
    parts = parse_template(value) if isinstance(value, str) else ()
    return parts[0] if len(parts) == 1 and isinstance(parts[0], Placeholder) else None
