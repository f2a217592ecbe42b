"""Word completion: commands, packs, verbs, options, steps and their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable

from perdure.packs.questions import options_of
from perdure.runbooks.drafts.draft import number_in
from perdure.surfaces.repl.answer_parser import options_in
from perdure.surfaces.repl.command_parser import FORMS, is_program
from perdure.surfaces.repl.conversation_state import AskArgument, AskEntity, AskField, AskPack, AskVerb, Session
from perdure.surfaces.repl.turn import Knowledge

MAX_OFFERED = 50
_LAST = re.compile(r"[^\s()\[\]{}]*$")


def complete(session: Session, text: str, knowledge: Knowledge) -> list[tuple[str, int]]:
    """Completions of the text before the cursor, each with how many letters before it they replace."""
    match = _LAST.search(text)
    word = match[0] if match is not None else ""
    found = _words(session, text[: len(text) - len(word)], word, knowledge)
    return [(each, len(word)) for each in dict.fromkeys(found) if each.lower().startswith(word.lower())][:MAX_OFFERED]


def _words(session: Session, before: str, word: str, knowledge: Knowledge) -> Iterable[str]:
    said = before.strip().lower()
    if is_program(before + word):
        yield from _in_program(before, word, knowledge)
    elif not said:
        yield from _options(session, knowledge)
        yield from (form.shown.split()[0] for form in FORMS if form.shown)
        yield from knowledge.shelf.ids() if not session.pack else ()
        yield from _verbs(session, knowledge)
    elif said in ("switch", "handoff", "switch to", "handoff to"):
        yield from knowledge.shelf.ids()
    elif said in ("verbs", "search"):
        yield from _verbs(session, knowledge)
    elif re.fullmatch(r"(?:edit|set)\s+(?:step\s+)?\d+", said):
        yield from _arguments(session, number_in(said.split()[-1]), knowledge)
    elif said in ("drop", "disable", "enable", "toggle", "edit", "why", "confirm", "move", "retry", "skip"):
        yield from (str(number) for number in range(1, len(session.draft.entries) + 1))
    elif said == "set":
        pack = knowledge.shelf.find(session.pack)
        yield from (each.field for each in pack.questions) if pack is not None else ()


def _options(session: Session, knowledge: Knowledge) -> Iterable[str]:
    asked = session.asked
    pack = knowledge.shelf.find(session.pack)
    match asked:
        case AskField() if pack is not None and (question := pack.question(asked.field)) is not None:
            yield from options_of(question, knowledge.catalogue)
        case AskArgument():
            verb = knowledge.catalogue.find(asked.entry.verb)
            yield from options_in(verb.input.properties.get(asked.argument)) if verb is not None else ()
            yield from (f"@{entry.name}" for entry in session.draft.entries)
        case AskPack():
            yield from asked.packs
        case AskVerb():
            yield from asked.verbs
        case AskEntity():
            yield from (each.label for each in asked.matches)
        case _:
            return


def _verbs(session: Session, knowledge: Knowledge) -> Iterable[str]:
    pack = knowledge.shelf.find(session.pack)
    return (verb.name for verb in knowledge.catalogue if pack is None or pack.allows(verb.name))


def _arguments(session: Session, number: int, knowledge: Knowledge) -> Iterable[str]:
    if not 1 <= number <= len(session.draft.entries):
        return ()
    verb = knowledge.catalogue.find(session.draft.entries[number - 1].verb)
    return (name.replace("_", "-") for name in verb.input.properties) if verb is not None else ()


def _in_program(before: str, word: str, knowledge: Knowledge) -> Iterable[str]:
    """After a parenthesis or EXEC a verb, after a colon an argument of the last verb."""
    if word.startswith(":"):
        named = re.findall(r"\(\s*([\w.-]+)", before)
        verb = knowledge.catalogue.find(named[-1]) if named else None
        yield from (f":{name.replace('_', '-')}" for name in verb.input.properties) if verb is not None else ()
        yield from (":as", ":after")
    elif before.rstrip().endswith(("(", "EXEC")):
        yield from knowledge.catalogue.names()
