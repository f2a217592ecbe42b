"""The conversation machine: words and news go in, a new session, sayings and wishes come out. Pure."""

from __future__ import annotations

import re
from typing import assert_never

import msgspec

from perdure.errors import PerdureError, ProgramError
from perdure.packs.definition import Pack
from perdure.packs.intent_selection import owners, select_pack, select_verb
from perdure.packs.questions import NO, YES, choose, options_of, pending, plain
from perdure.runbooks.drafts import draft as d
from perdure.runbooks.drafts.compilation import read_entries
from perdure.surfaces.repl import argument_questions, runbook_runs
from perdure.surfaces.repl.command_parser import is_program, parse_command
from perdure.surfaces.repl.commands import obey
from perdure.surfaces.repl.conversation_messages import (
    Follow,
    Found,
    Listed,
    ListOpen,
    Load,
    Looked,
    Moved,
    News,
    OpenListed,
    Redrawn,
    Refused,
    Rested,
    Rows,
    Saved,
    Steer,
    TasksListed,
    Told,
)
from perdure.surfaces.repl.conversation_state import (
    AskArgument,
    AskCancel,
    AskContext,
    AskEntity,
    AskField,
    AskPack,
    AskRun,
    AskSentence,
    AskSwitch,
    AskTask,
    AskVerb,
    Session,
)
from perdure.surfaces.repl.turn import Knowledge, Turn, TurnBuilder

SHORTHAND = re.compile(r"([\w-]+)\s*[=:]\s*(?:\"([^\"]*)\"|'([^']*)'|(\S+))")


def open_conversation(knowledge: Knowledge, resume: str = "") -> Turn:
    """The first turn: what one may come back to, or the runbook named."""
    turn = TurnBuilder(Session(), knowledge)
    if resume:
        turn.wish(Load(resume))
    else:
        turn.say("Say what you want to do, 'packs' for the journeys, 'help' for everything else.", "quiet")
        turn.wish(ListOpen())
    return turn.done()


def hear(session: Session, text: str, knowledge: Knowledge) -> Turn:
    """One line from the person."""
    turn = TurnBuilder(_next_turn(session), knowledge)
    try:
        _hear(turn, text)
    except PerdureError as error:
        turn.say(_sentence(error), "warning")
    return turn.done()


def learn(session: Session, news: News, knowledge: Knowledge) -> Turn:  # noqa: PLR0912  one case per kind of news
    """What came back from the desk."""
    turn = TurnBuilder(session, knowledge)
    match news:
        case Saved(id):
            turn.put(runbook=id)
        case Redrawn():
            _redrawn(turn, news)
        case Found(matches):
            if isinstance(session.asked, AskEntity):
                argument_questions.found(turn, session.asked, matches)
        case Moved(run):
            runbook_runs.moved(turn, run)
        case Rested(run, tasks, draft):
            if draft is not None:
                turn.put(draft=draft, runbook=run.id)
            runbook_runs.rested(turn, run, tasks)
        case Looked(run):
            runbook_runs.show_run(turn, run)
        case OpenListed():
            _open_listed(turn, news)
        case TasksListed(tasks):
            turn.put(tasks=tasks)
            runbook_runs.show_tasks(turn)
        case Listed(table):
            turn.show(table)
        case Told(text, follow):
            turn.say(text, "good")
            if follow and turn.session.run is not None:
                turn.wish(Follow())
        case Refused(text):
            turn.say(text, "bad")
            if turn.session.asked is None or isinstance(turn.session.asked, AskEntity):
                turn.settle()
        case _:
            assert_never(news)
    return turn.done()


# --- words ------------------------------------------------------------------------------------------------------------


def _hear(turn: TurnBuilder, text: str) -> None:
    asked = turn.session.asked
    if isinstance(asked, AskRun):
        command = parse_command(text) if not asked.phrase or text.strip() != asked.phrase else None
        if command is not None and command.name in ("why", "show", "dry_run", "options", "readiness", "help", "quit"):
            obey(turn, command)
        else:
            runbook_runs.give_run(turn, asked, text)
        return
    command = parse_command(text)
    if command is not None and not _is_answer(turn, text) and obey(turn, command):
        return
    if is_program(text):
        _program(turn, text)
    elif asked is not None:
        _answered(turn, text)
    elif text.strip():
        _meant(turn, text)


def _is_answer(turn: TurnBuilder, text: str) -> bool:
    """Words in quotes, and words that are one of the options on the table, are never a command."""
    asked, pack = turn.session.asked, turn.pack
    if asked is None or text.strip().startswith('"'):
        return asked is not None
    if isinstance(asked, AskField) and pack is not None:
        question = pack.question(asked.field)
        found = options_of(question, turn.catalogue) if question is not None else ()
        return plain(text) in [plain(each) for each in found]
    return False


def _answered(turn: TurnBuilder, text: str) -> None:  # noqa: PLR0912  one case per kind of question
    asked = turn.session.asked
    match asked:
        case None:
            _meant(turn, text)
        case AskField():
            argument_questions.give_field(turn, asked, text)
        case AskContext():
            argument_questions.give_context(turn, asked, text)
        case AskArgument():
            argument_questions.give_argument(turn, asked, text)
        case AskEntity():
            argument_questions.give_entity(turn, asked, text)
        case AskPack():
            _give_pack(turn, asked, text)
        case AskVerb():
            _give_verb(turn, asked, text)
        case AskSwitch():
            _give_switch(turn, asked, text)
        case AskSentence():
            _give_sentence(turn, asked, text)
        case AskTask():
            runbook_runs.give_task(turn, asked, text)
        case AskCancel():
            if runbook_runs.give_cancel(turn, asked, text):
                turn.wish(Steer("cancel", reason=asked.reason))
        case AskRun():
            runbook_runs.give_run(turn, asked, text)
        case _:
            assert_never(asked)


def _give_sentence(turn: TurnBuilder, asked: AskSentence, text: str) -> None:
    """Yes adds or confirms; no leaves out, or leaves proposed; anything else is a new wish."""
    said = text.strip().lower()
    if not said or said in YES:
        if asked.entries:
            entries = [msgspec.structs.replace(entry, status="confirmed") for entry in asked.entries]
            turn.changed(d.add(turn.draft, entries))
        else:
            turn.changed(d.confirm(turn.draft))
        turn.settle()
        turn.say("'run' runs it.", "quiet")
        return
    turn.settle()
    if said in NO:
        if asked.entries:
            if asked.verb:
                turn.put(rejected={**turn.session.rejected, asked.verb: turn.knowledge.scoring.rejected_turns})
            turn.say("Left out.", "quiet")
        else:
            turn.say("Then change it: edit, drop, disable or move steps, or set another answer.", "quiet")
        return
    turn.say("Not added." if asked.entries else "Not confirmed yet.", "quiet")
    _meant(turn, text)


def _give_pack(turn: TurnBuilder, asked: AskPack, text: str) -> None:
    said = text.strip().lower()
    if len(asked.packs) == 1 and said in NO:
        turn.settle()
        turn.say("Then say it in other words, or 'packs' for all of them.", "quiet")
        return
    is_yes = len(asked.packs) == 1 and (not said or said in YES)
    understood = choose("1" if is_yes else text.strip(), asked.packs)
    if understood.fault:
        turn.settle()
        _meant(turn, text)
        return
    chosen = turn.knowledge.shelf.get(understood.value)
    ranking = select_pack(asked.said, turn.knowledge.shelf, turn.knowledge.scoring)
    captured = next((each.captured for each in ranking.candidates if each.thing.id == chosen.id), {})
    argument_questions.enter_pack(turn, chosen, captured)


def _give_verb(turn: TurnBuilder, asked: AskVerb, text: str) -> None:
    said = text.strip().lower()
    if len(asked.verbs) == 1 and (not said or said in YES | NO):
        turn.settle()
        if said in NO:
            turns = turn.knowledge.scoring.rejected_turns
            turn.put(rejected={**turn.session.rejected, asked.verbs[0]: turns})
            turn.say("Then say it in other words, or 'verbs' to look for one.", "quiet")
            return
        _begin_verb(turn, asked.verbs[0], asked.said)
        return
    understood = choose(text.strip(), asked.verbs)
    turn.settle()
    if understood.fault:
        _meant(turn, text)
        return
    _begin_verb(turn, understood.value, asked.said)


def _begin_verb(turn: TurnBuilder, name: str, said: str) -> None:
    ranking = select_verb(said, turn.catalogue, turn.pack, scoring=turn.knowledge.scoring)
    captured = next((each.captured for each in ranking.candidates if each.thing.name == name), {})
    argument_questions.begin_entry(turn, turn.catalogue.get(name), captured)


def _give_switch(turn: TurnBuilder, asked: AskSwitch, text: str) -> None:
    turn.settle()
    if text.strip().lower() in YES:
        pack = turn.knowledge.shelf.get(asked.pack)
        ranking = select_pack(asked.said, turn.knowledge.shelf, turn.knowledge.scoring)
        said = next((each.captured for each in ranking.candidates if each.thing.id == pack.id), {})
        argument_questions.enter_pack(turn, pack, said)
        return
    turn.say("Staying here.", "quiet")


# --- free words -------------------------------------------------------------------------------------------------------


def _meant(turn: TurnBuilder, text: str) -> None:
    """A pack where none is chosen, a step where one is; what cannot be told apart is asked."""
    run = turn.session.run
    if run is not None and not run.is_ended:
        turn.say("This runbook runs. 'status', 'tasks', 'watch' or 'new' to begin another.", "warning")
        return
    if run is not None:
        turn.put(run=None, draft=d.Draft(context=turn.draft.context), runbook="", mode="choosing")
    if not turn.session.pack and not turn.draft.entries and _meant_pack(turn, text):
        return
    _meant_verb(turn, text)


def _meant_pack(turn: TurnBuilder, text: str) -> bool:
    word, _, rest = text.strip().partition(" ")
    outright = turn.knowledge.shelf.find(word.lower())
    if outright is not None:
        argument_questions.enter_pack(turn, outright, shorthand(rest))
        return True
    scoring = turn.knowledge.scoring
    ranking = select_pack(text, turn.knowledge.shelf, scoring)
    verb = select_verb(text, turn.catalogue, rejected=turn.session.rejected, scoring=scoring).best
    if verb is not None and ranking.best is not None and verb.score > ranking.best.score:
        return False
    match ranking.verdict:
        case "none":
            return False
        case "strong":
            best = ranking.candidates[0]
            argument_questions.enter_pack(turn, best.thing, best.captured)
        case "weak" | "ambiguous":
            ids = tuple(each.thing.id for each in ranking.candidates)
            if len(ids) == 1:
                turn.ask(AskPack(ids, text), "choosing", f"Do you mean {ranking.candidates[0].thing.name}?", (), "yes")
            else:
                turn.ask(AskPack(ids, text), "choosing", "Which journey do you mean?", ids)
        case _:
            assert_never(ranking.verdict)
    return True


def shorthand(text: str) -> dict[str, str]:
    """`entity="Allianz SE" case-type=new-client` after the name of a pack."""
    found = SHORTHAND.findall(text)
    return {name.replace("-", "_"): one or two or three for name, one, two, three in found}


def _meant_verb(turn: TurnBuilder, text: str) -> None:
    pack, scoring = turn.pack, turn.knowledge.scoring
    ranking = select_verb(text, turn.catalogue, pack, turn.draft, rejected=turn.session.rejected, scoring=scoring)
    best = ranking.best
    other = _other_pack(turn, text, best.thing.name if best is not None and ranking.verdict == "strong" else "")
    if other is not None and pack is not None:
        warning = f" {len(turn.draft.entries)} planned steps stay in this runbook." if turn.draft.entries else ""
        turn.ask(
            AskSwitch(other.id, text), "clarifying", f"That belongs to {other.name}. Switch to it?{warning}", (), "no"
        )
        return
    if best is None:
        turn.say("I do not know what that means. 'options' tells what can be said, 'verbs' looks for steps.", "warning")
        return
    if ranking.verdict == "strong":
        if pack is not None and not pack.allows(best.thing.name):
            turn.say(f"{pack.name} does not allow '{best.thing.name}'.", "warning")
            return
        argument_questions.begin_entry(turn, best.thing, best.captured)
        return
    names = tuple(each.thing.name for each in ranking.candidates if pack is None or pack.allows(each.thing.name))
    if ranking.verdict == "weak":
        names = names[:1]
    if not names:
        turn.say("Nothing this pack allows is meant by that.", "warning")
    elif len(names) == 1:
        verb = turn.catalogue.get(names[0])
        told = verb.definition.description or verb.name
        turn.ask(AskVerb(names, text), "clarifying", f"Do you mean {verb.name} ({told})?", (), "yes")
    else:
        turn.ask(AskVerb(names, text), "clarifying", "Which do you mean?", names)


def _other_pack(turn: TurnBuilder, text: str, verb: str) -> Pack | None:
    """The one other pack that what was said belongs to, when this one has no place for it."""
    pack = turn.pack
    if pack is None:
        return None
    if verb:
        others = [each for each in owners(verb, turn.knowledge.shelf) if each.id != pack.id]
        return others[0] if len(others) == 1 and not pack.allows(verb) else None
    ranking = select_pack(text, turn.knowledge.shelf, turn.knowledge.scoring)
    best = ranking.best
    is_other = best is not None and ranking.verdict == "strong" and best.thing.id != pack.id
    return best.thing if best is not None and is_other else None


def _program(turn: TurnBuilder, text: str) -> None:
    """A typed program is no bypass: it is read, said in sentences and asked about like anything else."""
    run = turn.session.run
    if run is not None and not run.is_ended:
        turn.say("This runbook runs. 'new' begins another.", "warning")
        return
    try:
        entries = read_entries(text, turn.draft, turn.catalogue)
    except ProgramError as error:
        turn.say(str(error), "bad")
        return
    pack = turn.pack
    refused = [entry.verb for entry in entries if pack is not None and entry.verb and not pack.allows(entry.verb)]
    if pack is not None and refused:
        turn.say(f"{pack.name} does not allow '{refused[0]}'.", "warning")
        return
    if pack is not None:
        entries = tuple(
            msgspec.structs.replace(each, section=pack.section_of(each.verb)) if each.verb else each for each in entries
        )
    argument_questions.propose(turn, entries)


# --- news -------------------------------------------------------------------------------------------------------------


def _redrawn(turn: TurnBuilder, news: Redrawn) -> None:
    is_loaded = bool(news.id)
    turn.put(draft=news.draft, asked=None, run=None, **({"runbook": news.id} if is_loaded else {}))
    turn.say(news.text, "good")
    pack, pin = turn.pack, news.draft.pack
    if is_loaded and pin is not None and (pack is None or pack.hash != pin.hash):
        turn.say(f"The pack '{pin.id}' is not what it was when this was planned; the plan stays as it is.", "warning")
    if not news.draft.entries and pack is not None and (is_loaded or pending(pack, news.draft)):
        argument_questions.ask_next(turn)
    elif news.draft.entries:
        argument_questions.play_back(turn)
    else:
        turn.settle()


def _open_listed(turn: TurnBuilder, news: OpenListed) -> None:
    turn.put(open=tuple(each.id for each in news.runbooks))
    if not news.runbooks:
        return
    rows = tuple(
        (str(number), each.title, each.state, each.since, each.id) for number, each in enumerate(news.runbooks, 1)
    )
    turn.show(Rows("Open runbooks", ("", "what", "state", "since", "id"), rows))
    turn.say("'resume 1' comes back to one.", "quiet")


def _next_turn(session: Session) -> Session:
    """What was turned down is forgotten after some turns."""
    if not session.rejected:
        return session
    left = {name: turns - 1 for name, turns in session.rejected.items() if turns > 1}
    return msgspec.structs.replace(session, rejected=left)


def _sentence(error: PerdureError) -> str:
    return f"{error.fact[:1].upper()}{error.fact[1:]}. {error.hint}".strip()
