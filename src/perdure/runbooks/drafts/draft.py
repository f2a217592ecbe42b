"""A runbook before it runs: answers, entries and where each value came from; every edit is pure and says its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, assert_never

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.runbooks.plan import (
    All,
    Branch,
    Condition,
    Either,
    Not,
    OnFailure,
    PackPin,
    Provenance,
    Reevaluate,
    Reference,
    Test,
    tests_of,
)
from perdure.verb_contract import ConsequenceTier
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.schema_shorthand import argument_name

EntryStatus = Literal["proposed", "confirmed", "disabled"]
MAX_ENTRIES = 10_000
MAX_DIGITS = 9


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was answered, how it is shown, and who said it."""

    value: Any
    provenance: Provenance = "user_provided"
    label: str = ""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One call as planned so far. Where a reference goes, `args` holds null."""

    name: str
    verb: str = ""
    args: dict[str, Any] = {}
    references: tuple[Reference, ...] = ()
    after: tuple[str, ...] = ()
    condition: Condition | None = None
    """A choice has this and no verb."""
    branches: tuple[Branch, ...] = ()
    status: EntryStatus = "proposed"
    section: str = ""
    provenance: dict[str, Provenance] = {}
    labels: dict[str, str] = {}
    """How a value is said in the sentence when that is not the value itself."""
    on_failure: OnFailure = "fail"
    alternative: str = ""
    gate: str = ""
    reevaluate: Reevaluate = "decisions"
    sentence: str = ""

    def needs(self) -> tuple[str, ...]:
        """The entries it comes after, because of a result or only in time."""
        choices = (each.choice for each in self.branches)
        return tuple(dict.fromkeys([*self.takes(), *self.after, *choices]))

    def takes(self) -> tuple[str, ...]:
        """The entries whose results it looks at."""
        looked = [each.step for each in tests_of(self.condition)] if self.condition is not None else ()
        return tuple(dict.fromkeys([*(each.step for each in self.references), *looked]))


class Handoff(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a draft was handed over from."""

    runbook: str
    pack: str
    outcomes: dict[str, Any] = {}
    """Results of the steps that came before, by their names."""
    verbs: tuple[str, ...] = ()
    """The verbs that were completed there."""


class Confirmation(msgspec.Struct, frozen=True, omit_defaults=True):
    """How running it was agreed to: how grave it was, why, what was typed, and which rules had raised it."""

    tier: ConsequenceTier
    reason: str
    said: str = ""
    rules: tuple[str, ...] = ()


class Draft(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The whole document. It is stored as it is; editing makes another."""

    pack: PackPin | None = None
    context: dict[str, Any] = {}
    answers: dict[str, Answer] = {}
    entries: tuple[Entry, ...] = ()
    variables: dict[str, Any] = {}
    handoff: Handoff | None = None
    confirmation: Confirmation | None = None
    title: str = ""
    """The plan in one sentence, as it was made; no longer shown once it was edited."""
    is_edited: bool = False

    def find(self, step: str | int) -> int:
        """The place of an entry by name or number (from 1), or a rejection that names the nearest."""
        text = str(step).lstrip("@")
        if 1 <= (number := number_in(text)) <= len(self.entries):
            return number - 1
        names = [entry.name for entry in self.entries]
        if text in names:
            return names.index(text)
        hint = did_you_mean(text, names) or (f"There are {len(names)} steps." if names else "There are no steps yet.")
        raise RejectedError(Rejection("not_found", "find", "step", text, "the plan has no such step", hint))

    def entry(self, step: str | int) -> Entry:
        return self.entries[self.find(step)]

    def active(self) -> tuple[Entry, ...]:
        """What would run."""
        return tuple(entry for entry in self.entries if entry.status != "disabled")


class Change(NamedTuple):
    """The document after an edit, and the edit in words."""

    draft: Draft
    text: str


def add(draft: Draft, entries: Iterable[Entry]) -> Change:
    """Append entries; a name that is taken gets a number."""
    made = list(draft.entries)
    renamed: dict[str, str] = {}
    for entry in entries:
        name = free_name(entry.name, [each.name for each in made])
        if name != entry.name:
            renamed[entry.name] = name
        made.append(_following(msgspec.structs.replace(entry, name=name), renamed))
    if len(made) > MAX_ENTRIES:
        fact = f"a runbook has at most {MAX_ENTRIES:,} steps"
        raise RejectedError(Rejection("invalid", "add", "steps", str(len(made)), fact))
    new = made[len(draft.entries) :]
    words = f"Added step {len(draft.entries) + 1}: {_said(new[0])}" if len(new) == 1 else f"Added {len(new)} steps"
    return Change(msgspec.structs.replace(draft, entries=tuple(made), is_edited=True), words)


def edit_arg(
    draft: Draft,
    step: str | int,
    argument: str,
    value: Any,
    catalogue: Catalogue,
    *,
    label: str = "",
    provenance: Provenance = "user_provided",
    reference: Reference | None = None,
) -> Change:
    """Give an argument another value, or a reference to an earlier step's result; the entry is proposed anew."""
    place = draft.find(step)
    entry = draft.entries[place]
    name = _argument(catalogue, entry, argument)
    if reference is not None:
        _check_earlier(draft, place, reference.step)
    old = entry.args.get(name)
    changed = msgspec.structs.replace(
        entry,
        args={**entry.args, name: None if reference is not None else value},
        references=(
            *(each for each in entry.references if each.at[:1] != (name,)),
            *((msgspec.structs.replace(reference, at=(name,)),) if reference is not None else ()),
        ),
        provenance={**entry.provenance, name: provenance},
        labels={**{key: said for key, said in entry.labels.items() if key != name}, **({name: label} if label else {})},
        status="disabled" if entry.status == "disabled" else "proposed",
    )
    changed = with_sentence(changed, catalogue)
    shown = label or (f"@{reference.step}" if reference is not None else value)
    text = f"Step {place + 1}: {name.replace('_', ' ')} is now {shown}" + (f" (was {old})" if old is not None else "")
    return Change(_with(draft, place, changed), text)


def reorder(draft: Draft, step: str | int, to: int) -> Change:
    """Move an entry to another place (from 1); never before what it needs, nor after what needs it."""
    place = draft.find(step)
    if not 1 <= to <= len(draft.entries):
        fact = f"there are places 1 to {len(draft.entries)}"
        raise RejectedError(Rejection("invalid", "move", "step", str(step), fact))
    entries = list(draft.entries)
    moved = entries.pop(place)
    entries.insert(to - 1, moved)
    seen: set[str] = set()
    for entry in entries:
        for need in entry.needs():
            if need not in seen:
                fact = f"'{entry.name}' would come before '{need}', which it needs"
                raise RejectedError(Rejection("blocked", "move", "step", moved.name, fact))
        seen.add(entry.name)
    return Change(msgspec.structs.replace(draft, entries=tuple(entries)), f"Step {place + 1} is now step {to}")


def drop(draft: Draft, step: str | int) -> Change:
    """Remove an entry; refused while another needs it."""
    place = draft.find(step)
    entry = draft.entries[place]
    needing = [
        each.name
        for each in draft.entries
        if entry.name in each.takes() or entry.name in {branch.choice for branch in each.branches}
    ]
    if needing:
        hint = "Drop or change that one first."
        fact = f"'{needing[0]}' takes a value from it"
        raise RejectedError(Rejection("blocked", "drop", "step", entry.name, fact, hint))
    kept = [
        msgspec.structs.replace(each, after=tuple(name for name in each.after if name != entry.name))
        for each in draft.entries
        if each is not entry
    ]
    changed = msgspec.structs.replace(draft, entries=tuple(kept), is_edited=True)
    return Change(changed, f"Dropped step {place + 1}: {_said(entry)}")


def disable(draft: Draft, step: str | int) -> Change:
    """Keep an entry and leave it out when running."""
    return _status(draft, step, "disabled", "Disabled")


def enable(draft: Draft, step: str | int) -> Change:
    """Take a disabled entry in again, to be confirmed."""
    return _status(draft, step, "proposed", "Enabled")


def confirm(draft: Draft, step: str | int | None = None) -> Change:
    """Agree to an entry as its sentence says, or to all of them."""
    if step is not None:
        return _status(draft, step, "confirmed", "Confirmed")
    entries = tuple(
        msgspec.structs.replace(each, status="confirmed") if each.status == "proposed" else each
        for each in draft.entries
    )
    count = sum(1 for each in draft.entries if each.status == "proposed")
    return Change(msgspec.structs.replace(draft, entries=entries), f"Confirmed {count} steps")


def clear(draft: Draft) -> Change:
    """No entries and no answers; the pack and the context stay."""
    text = f"Cleared {len(draft.entries)} steps"
    return Change(msgspec.structs.replace(draft, entries=(), answers={}, title="", is_edited=False), text)


def answered(draft: Draft, field: str, answer: Answer) -> Change:
    changed = msgspec.structs.replace(draft, answers={**draft.answers, field: answer})
    return Change(changed, f"{field.replace('_', ' ').capitalize()} is {answer.label or answer.value}")


def with_sentence(entry: Entry, catalogue: Catalogue) -> Entry:
    """The entry with the sentence people confirm."""
    if entry.condition is not None:
        return entry
    verb = catalogue.find(entry.verb)
    if verb is None:
        return msgspec.structs.replace(entry, sentence=entry.verb)
    args: dict[str, Any] = {**entry.args, **entry.labels}
    for each in entry.references:
        if len(each.at) == 1:
            args[str(each.at[0])] = _referred(each)
    return msgspec.structs.replace(entry, sentence=verb.sentence(args))


def number_in(text: str) -> int:
    """The number somebody wrote; 0 when it is none, or one so long that nobody counts that far."""
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else 0


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name itself, or with the first number that is free."""
    used = set(taken)
    if name not in used:
        return name
    return next(made for number in range(2, len(used) + 3) if (made := f"{name}_{number}") not in used)


def arguments(entry: Entry, at: Callable[[Reference], Any]) -> dict[str, Any]:
    """The arguments with something put wherever a reference goes."""
    made: Any = msgspec.json.decode(msgspec.json.encode(entry.args))
    for reference in entry.references:
        inside = made
        for part in reference.at[:-1]:
            inside = inside[part]
        inside[reference.at[-1]] = at(reference)
    return dict(made)


def _referred(reference: Reference) -> str:
    path = " ".join(str(part) for part in reference.path).replace("_", " ")
    return f"the {path} of @{reference.step}" if path else f"the result of @{reference.step}"


def _argument(catalogue: Catalogue, entry: Entry, written: str) -> str:
    name = argument_name(written)
    verb = catalogue.get(entry.verb)
    if name not in verb.input.properties and verb.input.schema.get("additionalProperties") is False:
        hint = did_you_mean(name, verb.input.properties)
        fact = f"'{verb.name}' takes no such argument"
        raise RejectedError(Rejection("not_found", "change", "argument", written, fact, hint))
    return name


def _check_earlier(draft: Draft, place: int, step: str) -> None:
    if step not in {each.name for each in draft.entries[:place]}:
        hint = did_you_mean(step, [each.name for each in draft.entries[:place]])
        fact = "no step before it has that name"
        raise RejectedError(Rejection("not_found", "refer to", "step", step, fact, hint))


def _following(entry: Entry, renamed: Mapping[str, str]) -> Entry:
    """The entry with the new names of those that came with it."""
    if not renamed:
        return entry
    return msgspec.structs.replace(
        entry,
        references=tuple(
            msgspec.structs.replace(each, step=renamed.get(each.step, each.step)) for each in entry.references
        ),
        after=tuple(renamed.get(name, name) for name in entry.after),
        branches=tuple(
            msgspec.structs.replace(each, choice=renamed.get(each.choice, each.choice)) for each in entry.branches
        ),
        condition=_renamed(entry.condition, renamed) if entry.condition is not None else None,
    )


def _renamed(condition: Condition, renamed: Mapping[str, str]) -> Condition:
    match condition:
        case Test():
            return msgspec.structs.replace(condition, step=renamed.get(condition.step, condition.step))
        case Not():
            return Not(_renamed(condition.of, renamed))
        case All():
            return All(tuple(_renamed(part, renamed) for part in condition.of))
        case Either():
            return Either(tuple(_renamed(part, renamed) for part in condition.of))
        case _:
            assert_never(condition)


def _status(draft: Draft, step: str | int, status: EntryStatus, word: str) -> Change:
    place = draft.find(step)
    entry = draft.entries[place]
    changed = msgspec.structs.replace(entry, status=status)
    return Change(_with(draft, place, changed), f"{word} step {place + 1}: {_said(entry)}")


def _with(draft: Draft, place: int, entry: Entry) -> Draft:
    entries = (*draft.entries[:place], entry, *draft.entries[place + 1 :])
    is_edited = draft.is_edited or entry.args != draft.entries[place].args or entry.status == "disabled"
    return msgspec.structs.replace(draft, entries=entries, is_edited=is_edited)


def _said(entry: Entry) -> str:
    return entry.sentence or entry.verb
