"""Card answers: a word that somebody put on a card becomes the answer of a person, by the rules of the task."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.app.task_channels.card_mark import Mark
from perdure.app.task_channels.task_cards import Shown, TaskCards, data_of
from perdure.channels.task_channel import Said, ShownCard
from perdure.channels.task_channel_settings import KnownPerson
from perdure.errors import RejectedError, SchemaViolationError

CHANGED = "What this asks has changed since it was shown. Please look again, and add the label anew."
TRIES = 5
"""How often an answer is tried again when something changes meanwhile that the card does not show."""
MAX_ID = 200
Outcome = Literal["answered", "over", "changed", "refused", "unknown"]


class CardReceipt(msgspec.Struct, frozen=True):
    """What became of a word: an answer, or why it is none."""

    outcome: Outcome
    task: str = ""
    reason: str = ""


async def take_word(cards: TaskCards, said: Said) -> CardReceipt:
    """Answer the task that a card shows. The same word again changes nothing."""
    settings, channel = cards.settings, cards.channel
    if said.word not in settings.decisions:
        return CardReceipt("unknown", reason=f"'{said.word}' answers nothing")
    card = await channel.read(said.number)
    mark = await cards.is_own(card) if card is not None else None
    if card is None or mark is None:
        return CardReceipt("unknown", reason=f"{said.number} is no card of a task")
    if said.word in card.words or await cards.shown(mark.task) is None:
        return await _answered(cards, said, card, mark)
    return CardReceipt("unknown", mark.task, f"'{said.word}' was taken away again")


async def _answered(cards: TaskCards, said: Said, card: ShownCard, mark: Mark) -> CardReceipt:
    """The word as the answer to what the card shows, as long as that is what the task shows now."""
    person, comment, reason = cards.settings.person(said.account), "", ""
    if person is not None:
        comment = await cards.channel.comment(said.number, said.account)
    for _ in range(TRIES):
        shown = await cards.shown(mark.task)
        if shown is None:
            await cards.end(said.number)
            return CardReceipt("over", mark.task, reason)
        if not cards.reads_as(shown, card):
            await cards.put(mark.task)
            await cards.channel.reply(said.number, CHANGED)
            return CardReceipt("changed", mark.task, CHANGED)
        # A message may be old and come again: whose word it is now, the channel alone knows.
        now = await cards.channel.who_said(said.number, said.word)
        if now is None or now.account != said.account:
            cards.channel.look_again()
            return CardReceipt("unknown", mark.task, f"'{said.word}' there is not by account {said.account}")
        if person is None:
            reason = f"@{said.login} is nobody here: account {said.account} is not among the people of this channel."
            break
        try:
            await _complete(cards, now, person, shown, comment)
        except (RejectedError, SchemaViolationError) as error:
            reason = f"@{said.login}: this could not be taken as an answer. {error}"
            after = await cards.shown(mark.task)
            if after is not None and after.view.seen == shown.view.seen:
                break
        else:
            return CardReceipt("answered", mark.task)
    await cards.channel.reply(said.number, reason, without=said.word)
    return CardReceipt("refused", mark.task, reason)


async def _complete(cards: TaskCards, said: Said, person: KnownPerson, shown: Shown, comment: str) -> None:
    data = data_of(cards.settings, said.word, comment, shown.view.form)
    acting = cards.perdure.acting(principal=person.person, groups=person.groups)
    message_id = f"{cards.settings.name}:{said.number}:{said.id}"[:MAX_ID]
    await acting.tasks.complete(shown.view.key, data, message_id=message_id, seen=shown.view.seen)
