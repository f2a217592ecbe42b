"""Commands of a conversation, one function each."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from perdure.packs.handoff import hand_over
from perdure.packs.questions import pending
from perdure.runbooks.drafts import draft as d
from perdure.runbooks.drafts.compilation import write_draft
from perdure.runbooks.plan import Reference
from perdure.surfaces.repl import argument_questions, explanations, runbook_runs
from perdure.surfaces.repl.answer_parser import read_value, reference_in
from perdure.surfaces.repl.command_parser import Command
from perdure.surfaces.repl.conversation_messages import (
    Code,
    DecideDocument,
    Follow,
    Leave,
    ListDocuments,
    ListEngines,
    ListEvents,
    ListIncidents,
    ListLetters,
    ListLifecycles,
    ListOpen,
    ListTasks,
    Load,
    Look,
    Redo,
    ResolveBlocker,
    Rows,
    ShowDocument,
    ShowImpact,
    ShowLifecycle,
    Steer,
    TransitLifecycle,
    Undo,
)
from perdure.surfaces.repl.conversation_state import AskArgument, AskCancel, AskEntity, AskField, AskSentence, Session
from perdure.surfaces.repl.turn import TurnBuilder, playback
from perdure.verbs.schema_shorthand import argument_name

_DRAFTING = frozenset(
    ["run_step", "undo", "redo", "confirm", "drop", "move", "disable", "enable", "toggle", "edit", "set", "clear"]
)


def obey(turn: TurnBuilder, command: Command) -> bool:
    """Whether the words were a command here; some mean something only at times."""
    if command.name == "set":
        pack = turn.pack
        if pack is None or pack.question(argument_name(command.get("field"))) is None:
            return False
    run = turn.session.run
    if run is not None and command.name in _DRAFTING:
        turn.say("It has been run; 'new' begins another, 'handoff' goes on from it.", "warning")
        return True
    _ACTS[command.name](turn, command)
    return True


# --- edits ------------------------------------------------------------------------------------------------------------


def _undo(turn: TurnBuilder, command: Command) -> None:
    if not turn.session.runbook:
        turn.say("There is nothing to undo.", "warning")
        return
    turn.put(asked=None)
    turn.wish(Undo())


def _redo(turn: TurnBuilder, command: Command) -> None:
    if not turn.session.runbook:
        turn.say("There is nothing to redo.", "warning")
        return
    turn.put(asked=None)
    turn.wish(Redo())


def _confirm(turn: TurnBuilder, command: Command) -> None:
    asked = turn.session.asked
    if isinstance(asked, AskSentence) and asked.entries:
        entries = [msgspec.structs.replace(entry, status="confirmed") for entry in asked.entries]
        turn.changed(d.add(turn.draft, entries))
    else:
        turn.changed(d.confirm(turn.draft, command.get("step") or None))
    turn.settle()


def _changing(edit: Callable[[d.Draft, str], d.Change]) -> Callable[[TurnBuilder, Command], None]:
    def act(turn: TurnBuilder, command: Command) -> None:
        turn.changed(edit(turn.draft, command.get("step")))
        argument_questions.play_back(turn)

    return act


def _toggle(draft: d.Draft, step: str) -> d.Change:
    return d.enable(draft, step) if draft.entry(step).status == "disabled" else d.disable(draft, step)


def _move(turn: TurnBuilder, command: Command) -> None:
    turn.changed(d.reorder(turn.draft, command.get("step"), d.number_in(command.get("to"))))
    argument_questions.play_back(turn)


def _edit(turn: TurnBuilder, command: Command) -> None:
    step, argument, value = command.get("step"), argument_name(command.get("argument")), command.get("value")
    place = turn.draft.find(step)
    entry = turn.draft.entries[place]
    verb = turn.catalogue.get(entry.verb)
    reference = reference_in(value)
    if reference is not None:
        made = Reference((argument,), reference.step, reference.path)
        turn.changed(d.edit_arg(turn.draft, step, argument, None, turn.catalogue, reference=made))
        argument_questions.play_back(turn)
        return
    if argument in verb.input.properties and argument_questions.entity_of(turn, argument) is None:
        found = read_value(value, verb.input.properties[argument], verb.input.schema.get("$defs"))
        if found.fault:
            turn.say(f"{found.fault}. {found.hint}".strip(), "warning")
            return
        turn.changed(d.edit_arg(turn.draft, step, argument, found.value, turn.catalogue))
        argument_questions.play_back(turn)
        return
    if argument not in verb.input.properties:
        d.edit_arg(turn.draft, step, argument, value, turn.catalogue)
    argument_questions.give_argument(turn, AskArgument(entry, argument, place + 1), value)


def _set(turn: TurnBuilder, command: Command) -> None:
    """Another answer; a plan that was made of the answers is made anew."""
    field = argument_name(command.get("field"))
    answers = {name: answer for name, answer in turn.draft.answers.items() if name != field}
    if turn.draft.entries:
        turn.say("The plan is made anew; 'undo' brings the old one back.", "quiet")
    turn.put(draft=msgspec.structs.replace(turn.draft, answers=answers, entries=()))
    argument_questions.give_field(turn, AskField(field), command.get("value"))


def _clear(turn: TurnBuilder, command: Command) -> None:
    turn.put(asked=None)
    turn.changed(d.clear(turn.draft))
    argument_questions.ask_next(turn)


# --- looking ----------------------------------------------------------------------------------------------------------


def _show(turn: TurnBuilder, command: Command) -> None:
    if turn.session.run is not None:
        turn.wish(Look())
    elif turn.draft.entries:
        turn.show(playback(turn.draft))
    else:
        explanations.draft_status(turn)


def _events(turn: TurnBuilder, command: Command) -> None:
    if turn.session.run is None:
        turn.say("Nothing has been run yet.", "quiet")
        return
    turn.wish(ListEvents())


def _status(turn: TurnBuilder, command: Command) -> None:
    if turn.session.run is not None:
        turn.wish(Look())
    else:
        explanations.draft_status(turn)


def _program(turn: TurnBuilder, command: Command) -> None:
    turn.show(Code(write_draft(turn.draft)))


def _readiness(turn: TurnBuilder, command: Command) -> None:
    explanations.show_readiness(turn)


def _packs(turn: TurnBuilder, command: Command) -> None:
    rows = tuple((each.id, each.description or each.name) for each in turn.knowledge.shelf)
    turn.show(Rows("Packs", ("pack", "what it is for"), rows, "There are no packs here."))


# --- going elsewhere --------------------------------------------------------------------------------------------------


def _switch(turn: TurnBuilder, command: Command) -> None:
    if not command.get("pack"):
        _packs(turn, command)
        return
    pack = turn.knowledge.shelf.get(command.get("pack"))
    if turn.draft.entries and turn.session.run is None:
        turn.say(f"{len(turn.draft.entries)} planned steps stay in runbook {turn.session.runbook}.", "warning")
    argument_questions.enter_pack(turn, pack)


def _handoff(turn: TurnBuilder, command: Command) -> None:
    """Go on in another pack: what is known goes along."""
    pack, run = turn.pack, turn.session.run
    target = command.get("pack") or (pack.handoff_target if pack is not None else None)
    if not target:
        turn.say("This pack hands over to no other. Name one: 'handoff PACK'.", "warning")
        return
    chosen = turn.knowledge.shelf.get(target)
    done = [step for step in run.steps if step.state == "completed"] if run is not None else []
    outcomes = {step.name: step.result for step in done if step.result is not None}
    before = turn.session.runbook
    draft = hand_over(turn.draft, before, chosen, outcomes, [step.verb for step in done])
    turn.put(draft=draft, runbook="", run=None, asked=None, mode="in_pack", tasks=())
    turn.say(f"{chosen.name}: {chosen.description}" if chosen.description else chosen.name, "title")
    for field, answer in draft.answers.items():
        turn.say(f"{field.replace('_', ' ')}: {answer.label or answer.value} (from the runbook before)", "quiet")
    turn.kept(d.Change(draft, f"Handed over from {before or 'another plan'}"))
    if not pending(chosen, draft):
        turn.say("Nothing new has to be asked.", "quiet")
    argument_questions.ask_next(turn)


def _resume(turn: TurnBuilder, command: Command) -> None:
    word = command.get("id")
    if not word:
        turn.wish(ListOpen())
        return
    listed = turn.session.open
    number = d.number_in(word)
    turn.wish(Load(listed[number - 1] if 1 <= number <= len(listed) else word))


def _new(turn: TurnBuilder, command: Command) -> None:
    if turn.session.runbook:
        turn.say(f"Runbook {turn.session.runbook} stays as it is.", "quiet")
    turn.session = Session(open=turn.session.open)
    turn.say("What do you want to do?")


def _cancel(turn: TurnBuilder, command: Command) -> None:
    """A question is withdrawn; without one, a run is stopped, after asking."""
    run = turn.session.run
    if turn.session.asked is not None:
        withdrawn = turn.session.asked
        turn.settle()
        is_slot = isinstance(withdrawn, AskField) or (
            isinstance(withdrawn, AskEntity) and isinstance(withdrawn.before, AskField)
        )
        turn.say("All right, not now. 'status' tells what is open." if is_slot else "Withdrawn.", "quiet")
    elif run is not None and not run.is_ended:
        turn.ask(AskCancel(command.get("reason")), "executing", "Stop the run? What is done stays done.", (), "no")
    else:
        turn.say("There is nothing to cancel.", "quiet")


def _run_step(turn: TurnBuilder, command: Command) -> None:
    """One step and what it needs; the others stay in the plan, disabled."""
    wanted = turn.draft.entry(command.get("step"))
    needed, waiting = {wanted.name}, list(wanted.needs())
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += turn.draft.entry(name).needs()
    for entry in turn.draft.active():
        if entry.name not in needed:
            turn.changed(d.disable(turn.draft, entry.name), "quiet")
    runbook_runs.run(turn)


def _steer(act: str) -> Callable[[TurnBuilder, Command], None]:
    def steer(turn: TurnBuilder, command: Command) -> None:
        if turn.session.run is None:
            turn.say("Nothing runs here.", "warning")
            return
        reason = command.get("reason")
        turn.wish(Steer("retry" if act == "retry" else "skip", command.get("step"), reason))

    return steer


def _verify(turn: TurnBuilder, command: Command) -> None:
    turn.wish(DecideDocument(command.get("id"), int(command.get("version")), note=command.get("reason")))


def _refuse(turn: TurnBuilder, command: Command) -> None:
    code = command.get("code").upper()
    turn.wish(DecideDocument(command.get("id"), int(command.get("version")), code, command.get("reason")))


def _transit(turn: TurnBuilder, command: Command) -> None:
    turn.wish(TransitLifecycle(command.get("id"), command.get("target"), command.get("reason")))


def _watch(turn: TurnBuilder, command: Command) -> None:
    if turn.session.run is None:
        turn.say("Nothing runs here.", "warning")
    elif turn.session.run.is_ended:
        turn.wish(Look())
    else:
        turn.say("Watching; Control-C comes back here, and it goes on.", "quiet")
        turn.wish(Follow(waits=True))


def _quit(turn: TurnBuilder, command: Command) -> None:
    if turn.session.runbook:
        turn.say(f"Everything is kept. Come back with: perdure repl --resume {turn.session.runbook}", "quiet")
    turn.put(has_ended=True)
    turn.wish(Leave())


_ACTS: dict[str, Callable[[TurnBuilder, Command], None]] = {
    "run": lambda turn, command: runbook_runs.run(turn),
    "run_step": _run_step,
    "undo": _undo,
    "redo": _redo,
    "confirm": _confirm,
    "drop": _changing(d.drop),
    "move": _move,
    "disable": _changing(d.disable),
    "enable": _changing(d.enable),
    "toggle": _changing(_toggle),
    "edit": _edit,
    "set": _set,
    "clear": _clear,
    "show": _show,
    "program": _program,
    "why": lambda turn, command: explanations.why(turn, command.get("what")),
    "status": _status,
    "options": lambda turn, command: explanations.options(turn),
    "readiness": _readiness,
    "dry_run": lambda turn, command: runbook_runs.show_dry_run(turn),
    "packs": _packs,
    "switch": _switch,
    "verbs": lambda turn, command: explanations.find_verbs(turn, command.get("text")),
    "handoff": _handoff,
    "tasks": lambda turn, command: turn.wish(ListTasks()),
    "claim": lambda turn, command: runbook_runs.claim(turn, command.get("task")),
    "answer": lambda turn, command: runbook_runs.answer(turn, command.get("task"), command.get("data")),
    "approve": lambda turn, command: runbook_runs.decide(turn, command.get("task"), True, command.get("reason")),
    "reject": lambda turn, command: runbook_runs.decide(turn, command.get("task"), False, command.get("reason")),
    "events": _events,
    "incidents": lambda turn, command: turn.wish(ListIncidents()),
    "impact": lambda turn, command: turn.wish(ShowImpact(command.get("file"))),
    "engines": lambda turn, command: turn.wish(ListEngines()),
    "letters": lambda turn, command: turn.wish(ListLetters()),
    "lifecycles": lambda turn, command: turn.wish(ListLifecycles(command.get("lifecycle"))),
    "lifecycle": lambda turn, command: turn.wish(ShowLifecycle(command.get("id"))),
    "resolve": lambda turn, command: turn.wish(ResolveBlocker(command.get("id"), command.get("key"))),
    "transit": _transit,
    "documents": lambda turn, command: turn.wish(ListDocuments(command.get("text"))),
    "document": lambda turn, command: turn.wish(ShowDocument(command.get("id"))),
    "verify": _verify,
    "refuse": _refuse,
    "retry": _steer("retry"),
    "skip": _steer("skip"),
    "watch": _watch,
    "resume": _resume,
    "runbooks": lambda turn, command: turn.wish(ListOpen()),
    "new": _new,
    "cancel": _cancel,
    "help": lambda turn, command: explanations.help_(turn),
    "quit": _quit,
}
