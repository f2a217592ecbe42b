"""A task channel: one port for systems outside where people look for human tasks and answer them.

A task is shown there as a card. Its text carries a mark that names the task and what was shown; whoever reads the card
back finds the task by it. A word, such as a label or a status, is the answer.

| asked of the outside meets | what is raised | and then |
|---|---|---|
| taken | nothing | the card is as asked |
| no connection, a server that is busy, a limit of requests | `Transient` | another attempt after a pause that grows |
| a token that is not taken, or may not do this | `Transient` | the same: somebody may mend it meanwhile |
| a refusal for good: no such place, not a card | `BusinessError` | the call that asked fails with the reason |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import msgspec


class Card(msgspec.Struct, frozen=True):
    """A task as it is to be shown. `mark` stands in its text; `people` are names that the outside knows."""

    title: str
    text: str
    mark: str
    labels: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


class ShownCard(NamedTuple):
    """A card as it stands outside; `words` are those it carries now."""

    number: int
    text: str
    words: tuple[str, ...]
    is_open: bool
    people: tuple[str, ...] = ()
    title: str = ""


class Said(NamedTuple):
    """Who put a word on a card: `account` is what the outside never gives to anybody else, `login` what it shows."""

    id: str
    number: int
    word: str
    account: str
    login: str


class TaskChannel(Protocol):
    """Shows tasks and tells what people say. One instance serves one place outside."""

    async def fault(self, people: Mapping[str, str]) -> str:
        """Why tasks cannot be shown there, or not to these accounts by their logins; empty when they can."""
        ...

    async def find(self, mark: str) -> int | None:
        """The number of the first card with a mark, where one was put and never told."""
        ...

    async def put(self, card: Card) -> int:
        """Make a card and give its number."""
        ...

    async def revise(self, number: int, card: Card, shown: ShownCard, *, without: tuple[str, ...] = ()) -> None:
        """Make a card as asked again, as far as it is not, and take words away."""
        ...

    def shows(self, card: Card, shown: ShownCard) -> bool:
        """Whether a card outside has the title and the text that this one is put with."""
        ...

    async def read(self, number: int) -> ShownCard | None:
        """A card as it is now; None where it was removed."""
        ...

    async def comment(self, number: int, account: str) -> str:
        """The last thing that an account said on a card, in words of its own."""
        ...

    async def reply(self, number: int, text: str, *, without: str = "") -> None:
        """Say something on a card, and take a word away."""
        ...

    async def end(self, number: int, text: str) -> None:
        """Close a card, and say why."""
        ...

    async def open_cards(self) -> list[ShownCard] | None:
        """Every open card; None when nothing has changed since it was asked last, or it is not the time to ask."""
        ...

    def look_again(self) -> None:
        """Let the next reading of open cards be whole: the last one was not used to its end."""
        ...

    async def who_said(self, number: int, word: str) -> Said | None:
        """Who put a word on a card that carries it now, the last time. Ids of what was said later are greater."""
        ...

    def received(self, headers: Mapping[str, str], body: bytes) -> Said | None:
        """The word that a signed message tells of, if any; UnsignedMessage when nobody known has signed it."""
        ...

    async def close(self) -> None: ...


class UnsignedMessage(Exception):
    """Raised when nobody known has signed a message."""
