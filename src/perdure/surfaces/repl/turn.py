"""One turn of a conversation while it is being made: the session so far, what is said and what is wished."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from perdure.packs.definition import Pack
from perdure.packs.loader import Shelf
from perdure.packs.questions import pending
from perdure.packs.text_similarity import Scoring
from perdure.runbooks.drafts.draft import Change, Draft
from perdure.surfaces.repl.conversation_messages import Ask, Playback, Save, Say, Saying, Sentence, Tone, Wish
from perdure.surfaces.repl.conversation_state import Asked, Mode, Session
from perdure.verbs import Catalogue

MAX_CHANGE = 500


class Knowledge(msgspec.Struct, frozen=True):
    """What a conversation knows beside what was said in it."""

    catalogue: Catalogue
    shelf: Shelf
    scoring: Scoring = Scoring()
    principal: str = ""


class Turn(NamedTuple):
    """What a turn came to."""

    session: Session
    says: tuple[Saying, ...]
    wishes: tuple[Wish, ...]


class TurnBuilder:
    """Gathers a turn. The session itself is never changed, only replaced."""

    def __init__(self, session: Session, knowledge: Knowledge) -> None:
        self.session = session
        self.knowledge = knowledge
        self.catalogue = knowledge.catalogue
        self._says: list[Saying] = []
        self._wishes: list[Wish] = []

    def done(self) -> Turn:
        """What one turn changes is one revision, so that `undo` takes back what one line did."""
        saves = [wish for wish in self._wishes if isinstance(wish, Save)]
        text = "; ".join(dict.fromkeys(wish.text for wish in saves))[:MAX_CHANGE]
        kept: list[Wish] = []
        for wish in self._wishes:
            if not isinstance(wish, Save):
                kept.append(wish)
            elif wish is saves[-1]:
                kept.append(Save(wish.draft, text))
        return Turn(self.session, tuple(self._says), tuple(kept))

    @property
    def draft(self) -> Draft:
        return self.session.draft

    @property
    def pack(self) -> Pack | None:
        return self.knowledge.shelf.find(self.session.pack) if self.session.pack else None

    def put(self, **changes: Any) -> None:
        self.session = msgspec.structs.replace(self.session, **changes)

    def say(self, text: str, tone: Tone = "plain") -> None:
        self._says.append(Say(text, tone))

    def show(self, saying: Saying) -> None:
        self._says.append(saying)

    def wish(self, wish: Wish) -> None:
        self._wishes.append(wish)

    def ask(self, asked: Asked, mode: Mode, text: str, options: tuple[str, ...] = (), default: str = "") -> None:
        """Put a question on the table; the next words that are no command answer it."""
        self.put(asked=asked, mode=mode)
        self._says.append(Ask(text, options, default))

    def settle(self) -> None:
        """No question is open; where the conversation rests follows from what there is."""
        mode: Mode = "editing" if self.draft.entries or self.session.pack else "choosing"
        if self.session.run is not None:
            mode = "executing"
        pack = self.pack
        if mode == "editing" and pack is not None and not self.draft.entries and pending(pack, self.draft):
            mode = "in_pack"
        self.put(asked=None, mode=mode)

    def changed(self, change: Change, tone: Tone = "good") -> None:
        """Take an edit in, say it and keep it."""
        self.put(draft=change.draft)
        self.say(f"{change.text}.", tone)
        self.wish(Save(change.draft, change.text))

    def kept(self, change: Change) -> None:
        """The same without a word."""
        self.put(draft=change.draft)
        self.wish(Save(change.draft, change.text))


MARKS = {"proposed": "not confirmed", "disabled": "disabled"}


def playback(draft: Draft, title: str = "") -> Playback:
    """The plan in sentences, by chapter; what falls into none comes last."""
    chapters: dict[str, list[Sentence]] = {}
    is_mixed = any(entry.status == "confirmed" for entry in draft.entries)
    for number, entry in enumerate(draft.entries, 1):
        note = MARKS.get(entry.status, "") if is_mixed or entry.status == "disabled" else ""
        if entry.gate:
            note = ", ".join(part for part in (note, f"needs the agreement of {entry.gate}") if part)
        chapters.setdefault(entry.section, []).append(Sentence(number, entry.sentence, entry.status, note))
    return Playback(
        title or ("" if draft.is_edited else draft.title),
        in_order({each: tuple(said) for each, said in chapters.items()}),
    )


def in_order(chapters: dict[str, tuple[Sentence, ...]]) -> tuple[tuple[str, tuple[Sentence, ...]], ...]:
    """Chapters as they came; what belongs to none is last, and has a name only where the others have one."""
    named = [(title, said) for title, said in chapters.items() if title]
    rest = chapters.get("", ())
    return (*named, *([("Other" if named else "", rest)] if rest else []))
