"""Questions for arguments: of a pack, of a verb and of records that may be meant, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.app.entity_lookup import MatchView
from perdure.packs.definition import Pack, Question
from perdure.packs.instantiation import choose_template, instantiate
from perdure.packs.questions import (
    NO,
    YES,
    default_of,
    missing_context,
    offered,
    options_of,
    pending,
    plain,
    understand,
)
from perdure.runbooks.drafts.draft import (
    Answer,
    Change,
    Draft,
    Entry,
    answered,
    edit_arg,
    free_name,
    number_in,
    with_sentence,
)
from perdure.runbooks.drafts.readiness import unresolved
from perdure.surfaces.repl.answer_parser import options_in, read_value, reference_in
from perdure.surfaces.repl.conversation_messages import LookUp
from perdure.surfaces.repl.conversation_state import (
    AskArgument,
    AskContext,
    AskEntity,
    AskField,
    AskSentence,
)
from perdure.surfaces.repl.turn import TurnBuilder, playback
from perdure.verbs import Verb
from perdure.verbs.schema_shorthand import argument_name

MAX_CHOICES = 9


# --- a pack's questions -----------------------------------------------------------------------------------------------


def enter_pack(turn: TurnBuilder, pack: Pack, said: Mapping[str, str] | None = None) -> None:
    """Begin a journey with what was already said about it."""
    draft = msgspec.structs.replace(Draft(context=turn.draft.context), pack=pack.pin())
    turn.put(draft=draft, runbook="", asked=None, mode="in_pack", run=None)
    turn.say(f"{pack.name}: {pack.description}" if pack.description else pack.name, "title")
    begin(turn, said or {})


def begin(turn: TurnBuilder, said: Mapping[str, str]) -> None:
    """Answer what is known, then ask the rest."""
    waiting = dict(said)
    pack = turn.pack
    assert pack is not None
    for field in list(waiting):
        question = pack.question(field)
        if question is None or question.entity is not None:
            continue
        _take(turn, question, waiting.pop(field), is_quiet=True)
    for field, text in waiting.items():
        question = pack.question(field)
        if question is not None and field not in turn.draft.answers:
            _look_up(turn, AskField(field), str(question.entity), text)
            return
    ask_next(turn)


def ask_next(turn: TurnBuilder) -> None:
    """The next question of the pack, or the plan when there is none."""
    pack = turn.pack
    if pack is None:
        turn.settle()
        return
    missing = missing_context(pack, turn.draft)
    if missing:
        turn.ask(AskContext(missing[0]), "in_pack", f"What is the {missing[0].replace('_', ' ')}?")
        return
    open_ = pending(pack, turn.draft)
    if open_:
        _ask_field(turn, open_[0])
    elif not turn.draft.entries and pack.templates:
        plan(turn, pack)
    else:
        turn.settle()


def _ask_field(turn: TurnBuilder, question: Question) -> None:
    default = default_of(question, turn.draft)
    shown = ", ".join(default) if isinstance(default, list) else "" if default is None else str(default)
    if isinstance(default, bool):
        shown = "yes" if default else "no"
    options = options_of(question, turn.catalogue) if question.answer_kind != "boolean" else ()
    turn.ask(AskField(question.field), "in_pack", question.prompt, options, shown)


def give_field(turn: TurnBuilder, asked: AskField, text: str) -> None:
    """The answer to a pack's question."""
    pack = turn.pack
    question = pack.question(asked.field) if pack is not None else None
    if pack is None or question is None:
        turn.settle()
        return
    if not text.strip():
        default = default_of(question, turn.draft)
        if default is None:
            turn.say("It has no default.", "warning")
            _ask_field(turn, question)
            return
        turn.kept(answered(turn.draft, question.field, Answer(default, "template_default")))
        ask_next(turn)
        return
    if question.entity is not None:
        _look_up(turn, asked, question.entity, text.strip())
        return
    if _take(turn, question, text):
        ask_next(turn)
    else:
        _ask_field(turn, question)


def give_context(turn: TurnBuilder, asked: AskContext, text: str) -> None:
    if not text.strip():
        ask_next(turn)
        return
    context = {**turn.draft.context, asked.name: text.strip()}
    draft = msgspec.structs.replace(turn.draft, context=context)
    turn.kept(Change(draft, f"The {asked.name.replace('_', ' ')} is {text.strip()}"))
    ask_next(turn)


def _take(turn: TurnBuilder, question: Question, text: str, is_quiet: bool = False) -> bool:
    understood = understand(question, text, options_of(question, turn.catalogue))
    if understood.fault:
        turn.say(f"{understood.fault}. {understood.hint}".strip(), "warning")
        return False
    change = answered(turn.draft, question.field, Answer(understood.value))
    if is_quiet:
        turn.say(f"{change.text}.", "quiet")
    turn.kept(change)
    return True


def plan(turn: TurnBuilder, pack: Pack, template_id: str = "") -> None:
    """The template becomes entries, which are played back."""
    template = choose_template(pack, turn.draft, template_id)
    if template is None:
        turn.settle()
        return
    change = instantiate(pack, template, turn.draft, turn.catalogue)
    turn.kept(change)
    play_back(turn)
    more = offered(pack, turn.draft)
    if more:
        names = ", ".join(each.field.replace("_", " ") for each in more)
        turn.say(f"You may also set: {names}.", "quiet")


def play_back(turn: TurnBuilder) -> None:
    """Show the plan; what is not confirmed is asked for, after what is still open in it."""
    for number, entry in enumerate(turn.draft.entries, 1):
        verb = turn.catalogue.find(entry.verb)
        missing = unresolved(entry, verb) if verb is not None and entry.status != "disabled" else []
        if verb is not None and missing:
            turn.show(playback(turn.draft))
            ask_argument(turn, verb, AskArgument(entry, missing[0], number))
            return
    turn.show(playback(turn.draft))
    if any(entry.status == "proposed" for entry in turn.draft.entries):
        turn.ask(AskSentence(), "playback", "Is that right?", (), "yes")
    else:
        turn.settle()


# --- a verb's arguments -----------------------------------------------------------------------------------------------


def begin_entry(turn: TurnBuilder, verb: Verb, said: Mapping[str, str]) -> None:
    """A new step, with the arguments its words already gave."""
    name = free_name(verb.name.rpartition(".")[2].replace("-", "_"), [each.name for each in turn.draft.entries])
    pack = turn.pack
    entry = Entry(name=name, verb=verb.name, section=pack.section_of(verb.name) if pack is not None else "")
    for written, text in said.items():
        argument = argument_name(written)
        schema = verb.input.properties.get(argument)
        if schema is None or text == "…":
            continue
        found = read_value(text, schema, verb.input.schema.get("$defs"))
        if not found.fault and entity_of(turn, argument) is None:
            entry = _with(entry, argument, found.value)
    looked = [name for name in said if entity_of(turn, argument_name(name)) is not None]
    if looked:
        argument = argument_name(looked[0])
        _look_up(turn, AskArgument(entry, argument), str(entity_of(turn, argument)), said[looked[0]])
        return
    next_argument(turn, verb, entry)


def next_argument(turn: TurnBuilder, verb: Verb, entry: Entry) -> None:
    """Ask for what the entry still lacks, else play it back."""
    missing = unresolved(entry, verb)
    if missing:
        ask_argument(turn, verb, AskArgument(entry, missing[0]))
    else:
        propose(turn, (with_sentence(entry, turn.catalogue),), verb.name)


def ask_argument(turn: TurnBuilder, verb: Verb, asked: AskArgument) -> None:
    schema = verb.input.properties.get(asked.argument)
    turn.ask(asked, "clarifying", verb.clarify(asked.argument), options_in(schema))


def give_argument(turn: TurnBuilder, asked: AskArgument, text: str) -> None:
    verb = turn.catalogue.get(asked.entry.verb)
    if not text.strip():
        ask_argument(turn, verb, asked)
        return
    reference = reference_in(text)
    if reference is not None:
        before = turn.draft.entries[: asked.step - 1] if asked.step else turn.draft.entries
        if reference.step not in [each.name for each in before]:
            names = ", ".join(f"@{each.name}" for each in before) or "none yet"
            turn.say(f"No step before is called '@{reference.step}'. There are: {names}.", "warning")
            ask_argument(turn, verb, asked)
            return
        _put_argument(turn, asked, None, reference=msgspec.structs.replace(reference, at=(asked.argument,)))
        return
    entity = entity_of(turn, asked.argument)
    if entity is not None:
        _look_up(turn, asked, entity, text.strip())
        return
    found = read_value(text, verb.input.properties.get(asked.argument), verb.input.schema.get("$defs"))
    if found.fault:
        turn.say(f"{found.fault}. {found.hint}".strip(), "warning")
        ask_argument(turn, verb, asked)
        return
    _put_argument(turn, asked, found.value)


def _put_argument(turn: TurnBuilder, asked: AskArgument, value: Any, label: str = "", reference: Any = None) -> None:
    if asked.step:
        turn.changed(
            edit_arg(turn.draft, asked.step, asked.argument, value, turn.catalogue, label=label, reference=reference)
        )
        play_back(turn)
        return
    entry = _with(asked.entry, asked.argument, value, label)
    if reference is not None:
        entry = msgspec.structs.replace(entry, references=(*entry.references, reference))
    next_argument(turn, turn.catalogue.get(entry.verb), entry)


def propose(turn: TurnBuilder, entries: tuple[Entry, ...], verb: str = "") -> None:
    """Say what would be added, and ask."""
    number = len(turn.draft.entries) + 1
    shown = Draft(entries=tuple(msgspec.structs.replace(each, status="confirmed") for each in entries))
    view = playback(shown)
    chapters = tuple(
        (title, tuple(said._replace(number=said.number + number - 1) for said in sentences))
        for title, sentences in view.chapters
    )
    turn.show(msgspec.structs.replace(view, chapters=chapters))
    question = "Add it to the plan?" if len(entries) == 1 else f"Add these {len(entries)} steps to the plan?"
    turn.ask(AskSentence(entries, verb), "playback", question, (), "yes")


def _with(entry: Entry, argument: str, value: Any, label: str = "") -> Entry:
    return msgspec.structs.replace(
        entry,
        args={**entry.args, argument: value},
        provenance={**entry.provenance, argument: "user_provided"},
        labels={**entry.labels, **({argument: label} if label else {})},
    )


# --- records ----------------------------------------------------------------------------------------------------------


def entity_of(turn: TurnBuilder, argument: str) -> str | None:
    """The declared entity an argument names: `client`, `client_id` or `client_key`."""
    for name in (argument, argument.removesuffix("_id"), argument.removesuffix("_key")):
        if name in turn.catalogue.entities:
            return name
    return None


def _look_up(turn: TurnBuilder, before: AskField | AskArgument, entity: str, text: str) -> None:
    turn.put(asked=AskEntity(before, text), mode="clarifying")
    turn.wish(LookUp(entity, text))


def found(turn: TurnBuilder, asked: AskEntity, matches: tuple[MatchView, ...]) -> None:
    """One record is meant, several may be, or none is known."""
    exact = [each for each in matches if plain(asked.said) in (plain(each.label), plain(each.key))]
    sure = exact if len(exact) == 1 else list(matches) if len(matches) == 1 else []
    if sure:
        take_match(turn, asked, sure[0])
        return
    if not matches:
        # What is not recorded yet may be right all the same; whoever says so decides.
        question = f"Nothing is known by '{asked.said}'. Use it as it is?"
        turn.ask(AskEntity(asked.before, asked.said), "clarifying", question, (), "no")
        return
    shown = matches[:MAX_CHOICES]
    more = f" (and {len(matches) - MAX_CHOICES} more)" if len(matches) > MAX_CHOICES else ""
    turn.ask(
        AskEntity(asked.before, asked.said, shown),
        "clarifying",
        f"Which '{asked.said}' do you mean?{more}",
        tuple(f"{each.label}  ({each.note})" if each.note else each.label for each in shown),
    )


def give_entity(turn: TurnBuilder, asked: AskEntity, text: str) -> None:
    """A number, a name, or other words to look for."""
    said = text.strip()
    if not asked.matches and (not said or said.lower() in YES | NO):
        if said.lower() in YES:
            take_match(turn, asked, MatchView(asked.said, asked.said))
        else:
            _ask_again(turn, asked)
        return
    if 1 <= (number := number_in(said)) <= len(asked.matches):
        take_match(turn, asked, asked.matches[number - 1])
        return
    if asked.matches and 0 < number <= MAX_CHOICES and said.isdigit():
        turn.say(f"There are choices 1 to {min(len(asked.matches), MAX_CHOICES)}; or say another name.", "warning")
        found(turn, asked, asked.matches)
        return
    named = [each for each in asked.matches if plain(said) in (plain(each.label), plain(each.key))]
    if len(named) == 1:
        take_match(turn, asked, named[0])
    elif said:
        before = asked.before
        if isinstance(before, AskField):
            give_field(turn, before, said)
        else:
            give_argument(turn, before, said)
    else:
        found(turn, asked, asked.matches)


def take_match(turn: TurnBuilder, asked: AskEntity, match: MatchView) -> None:
    before = asked.before
    if plain(asked.said) != plain(match.label):
        turn.say(f"{match.label} ({match.key}).", "quiet")
    if isinstance(before, AskArgument):
        _put_argument(turn, before, match.key, match.label)
        return
    turn.kept(answered(turn.draft, before.field, Answer(match.key, "user_provided", match.label)))
    ask_next(turn)


def _ask_again(turn: TurnBuilder, asked: AskEntity) -> None:
    before = asked.before
    if isinstance(before, AskArgument):
        ask_argument(turn, turn.catalogue.get(before.entry.verb), before)
        return
    pack = turn.pack
    question = pack.question(before.field) if pack is not None else None
    if question is not None:
        _ask_field(turn, question)
