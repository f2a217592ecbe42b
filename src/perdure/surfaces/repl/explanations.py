"""Explanations: sources of values, missing arguments, options and effects."""

from __future__ import annotations

from perdure.packs.intent_selection import select_verb
from perdure.packs.journey_progress import journey
from perdure.packs.plan_consequence_tier import Called, Composed, composed_tier
from perdure.packs.questions import offered, options_of, pending
from perdure.runbooks.drafts.draft import Draft, Entry
from perdure.runbooks.drafts.readiness import Readiness, readiness
from perdure.runbooks.plan import Provenance
from perdure.surfaces.repl.answer_parser import options_in
from perdure.surfaces.repl.command_parser import FORMS
from perdure.surfaces.repl.conversation_messages import Rows
from perdure.surfaces.repl.conversation_state import (
    AskArgument,
    AskEntity,
    AskField,
    AskPack,
    AskRun,
    AskSentence,
    AskVerb,
)
from perdure.surfaces.repl.turn import TurnBuilder
from perdure.verbs.schema_shorthand import argument_name

ORIGINS: dict[Provenance, str] = {
    "user_provided": "you said so",
    "template_default": "the pack's default",
    "inferred_from_context": "known from the context",
    "copied_from_previous": "copied from the runbook before",
}
MAX_LISTED = 30
NOT_BEGUN = ("pending", "ready", "skipped", "cancelled")


def report_of(turn: TurnBuilder) -> Readiness:
    pack = turn.pack
    must = pack is None or pack.risk_policy.require_confirm_before_execute
    prior = turn.draft.handoff.verbs if turn.draft.handoff is not None else ()
    if pack is None:
        return readiness(turn.draft, turn.catalogue, must, prior)
    return readiness(turn.draft, turn.catalogue, must, prior, pack.allows)


def tier_of(turn: TurnBuilder) -> Composed:
    pack = turn.pack
    calls = [Called(entry.name, entry.verb, entry.args) for entry in turn.draft.active() if entry.verb]
    return composed_tier(calls, turn.catalogue, pack.risk_policy if pack is not None else None)


def show_readiness(turn: TurnBuilder) -> bool:
    """Says what is missing; whether nothing is."""
    report = report_of(turn)
    parts = [f"{report.steps} steps", f"{report.confirmed} confirmed"]
    parts += [f"{report.proposed} not confirmed"] if report.proposed else []
    parts += [f"{report.disabled} disabled"] if report.disabled else []
    if report.is_ready:
        composed = tier_of(turn)
        turn.say(f"Ready: {', '.join(parts)}.", "good")
        turn.say(f"Tier: {composed.tier.replace('_', ' ')}, because {composed.reason}.", "quiet")
        return True
    turn.say(f"Not ready: {', '.join(parts)}.", "warning")
    numbers = {entry.name: str(number) for number, entry in enumerate(turn.draft.entries, 1)}
    rows = tuple((numbers.get(each.entry, ""), f"{each.text}. {each.hint}".strip()) for each in report.issues)
    turn.show(Rows("", ("step", "what is missing"), rows[:MAX_LISTED]))
    return False


def why(turn: TurnBuilder, what: str) -> None:
    """Where the values of a step, or an answer, came from; without a word, all of it."""
    pack, draft = turn.pack, turn.draft
    name = argument_name(what)
    if what and name in draft.answers:
        answer = draft.answers[name]
        turn.say(f"{name.replace('_', ' ')} is {answer.label or answer.value}: {ORIGINS[answer.provenance]}.")
        return
    asked = turn.session.asked
    if not what and isinstance(asked, AskField) and pack is not None:
        turn.say(f"{pack.name} needs '{asked.field.replace('_', ' ')}' to make its plan.")
        return
    if not what and isinstance(asked, AskArgument):
        turn.say(f"'{asked.entry.verb}' needs '{asked.argument.replace('_', ' ')}'.")
        return
    if not what and isinstance(asked, AskRun):
        composed = tier_of(turn)
        turn.say(f"It asks because {composed.reason}.")
        for fired in composed.fired:
            turn.say(f"Rule '{fired.rule}' on {fired.step}: {fired.reason}.", "quiet")
        return
    entries = [draft.entry(what)] if what else list(draft.entries)
    if not entries:
        turn.say("There is nothing to explain yet.", "quiet")
    for entry in entries[:MAX_LISTED]:
        turn.show(_origins(draft, entry))


def _origins(draft: Draft, entry: Entry) -> Rows:
    rows = [
        (name.replace("_", " "), _value(entry, name), ORIGINS[entry.provenance.get(name, "user_provided")])
        for name in entry.args
    ]
    number = draft.find(entry.name) + 1
    return Rows(f"{number}. {entry.sentence}", (entry.verb or "choice", "value", "why"), tuple(rows), "No arguments.")


def _value(entry: Entry, name: str) -> str:
    for each in entry.references:
        if each.at[:1] == (name,):
            return "@" + ".".join([each.step, *(str(part) for part in each.path)])
    shown = entry.labels.get(name)
    return f"{shown} ({entry.args[name]})" if shown else str(entry.args[name])


def options(turn: TurnBuilder) -> None:
    """What could be said now."""
    asked, pack = turn.session.asked, turn.pack
    match asked:
        case AskField():
            question = pack.question(asked.field) if pack is not None else None
            found = options_of(question, turn.catalogue) if question is not None else ()
            _listed(turn, found, "Any words will do; they are checked afterwards.")
        case AskArgument():
            schema = turn.catalogue.get(asked.entry.verb).input.properties.get(asked.argument)
            _listed(turn, options_in(schema), "Any words will do, or @step.field for an earlier result.")
        case AskEntity():
            _listed(turn, tuple(each.label for each in asked.matches), "A name to look for.")
        case AskPack():
            _listed(turn, asked.packs, "Say what you want to do.")
        case AskVerb():
            _listed(turn, asked.verbs, "Say what you want to do.")
        case AskSentence():
            turn.say("yes, no, or a change: edit, drop, disable, move; 'why' tells where values came from.")
        case AskRun():
            turn.say(f"Type '{asked.phrase}' to go on." if asked.phrase else "yes or no.")
        case _:
            _in_general(turn)


def _in_general(turn: TurnBuilder) -> None:
    pack = turn.pack
    if pack is None:
        rows = tuple((each.id, each.description or each.name) for each in turn.knowledge.shelf)
        turn.show(Rows("Packs", ("pack", "what it is for"), rows, "No packs here; name a verb instead."))
        return
    more = offered(pack, turn.draft)
    if more:
        turn.say("Answers you may set: " + ", ".join(each.field for each in more) + ".")
    verbs = [verb for verb in turn.catalogue if pack.allows(verb.name)]
    rows = tuple((verb.name, verb.definition.description) for verb in verbs[:MAX_LISTED])
    turn.show(Rows(f"Steps {pack.name} may take", ("verb", "what it does"), rows))
    if pack.handoff_target:
        turn.say(f"Afterwards: 'handoff' goes on with {pack.handoff_target}.", "quiet")


def _listed(turn: TurnBuilder, found: tuple[str, ...], otherwise: str) -> None:
    if found:
        turn.show(Rows("Options", ("", ""), tuple((str(number), each) for number, each in enumerate(found, 1))))
    else:
        turn.say(otherwise)


def find_verbs(turn: TurnBuilder, text: str) -> None:
    pack = turn.pack
    if not text:
        found = [verb for verb in turn.catalogue if pack is None or pack.allows(verb.name)]
    else:
        ranked = select_verb(text, turn.catalogue, pack, scoring=turn.knowledge.scoring)
        found = [each.thing for each in ranked.candidates] or turn.catalogue.search(text, 10)
    rows = tuple((verb.name, verb.definition.description) for verb in found[:MAX_LISTED])
    turn.show(Rows("Verbs", ("verb", "what it does"), rows, "No verb speaks of that."))


def draft_status(turn: TurnBuilder) -> None:
    """How far a plan has come that does not run yet."""
    pack, draft = turn.pack, turn.draft
    if pack is None and not draft.entries:
        turn.say("Nothing is planned yet. Say what you want to do, or 'packs'.", "quiet")
        return
    if pack is not None:
        open_ = [each.field.replace("_", " ") for each in pending(pack, draft)]
        turn.say(f"{pack.name}: still to be answered: {', '.join(open_)}." if open_ else f"{pack.name}: all answered.")
    report = report_of(turn)
    turn.say(f"{report.steps} steps: {report.confirmed} confirmed, {report.proposed} not, {report.disabled} disabled.")
    if turn.session.runbook:
        turn.say(f"Kept as runbook {turn.session.runbook}.", "quiet")


def signals(turn: TurnBuilder) -> None:
    """The milestones of the pack, as far as the run has come."""
    pack, run = turn.pack, turn.session.run
    if pack is None or run is None:
        return
    steps = [
        {"verb": each.verb, "status": each.state, "section": each.section, "name": each.name}
        for each in run.steps
        if each.state not in NOT_BEGUN
    ]
    told = journey(pack, turn.draft, steps)
    for label, is_reached in told.signals:
        turn.say(f"{'✓' if is_reached else '·'} {label}", "good" if is_reached else "quiet")
    if run.state == "completed" and told.missing:
        turn.say(f"{pack.name} is not done yet: {'; '.join(told.missing)}.", "warning")


def help_(turn: TurnBuilder) -> None:
    rows = tuple((form.shown, form.help) for form in FORMS if form.shown)
    turn.show(Rows("", ("say", "and it will"), rows))
    turn.say("Or say what you want in your own words, name a verb, or type a call: (verb :argument value).", "quiet")
