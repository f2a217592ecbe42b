"""Messages and signals: their kinds, their ids and their outcomes, whichever engine delivers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, assert_never

from perdure.sources import Id

MESSAGE = "message"
SIGNAL = "signal"
NOTICE = "perdure:"
"""The beginning of the platform's own message ids; senders may not use such."""
OTHER = f"{NOTICE}other/"
"""The beginning of an id that a message was given because its own is another message's."""

MessageOutcome = Literal["correlated", "buffered", "started", "accepted", "no_subscription", "ambiguous", "duplicate"]
"""What became of a message: taken by a wait, kept until its time to live ends, the start of an instance, handed to an
engine that does not say who takes it, wanted by nobody, wanted by several (taken by none), or known already."""


class Vet(Protocol):
    """Raises RejectedError when what is sent must not have these effects; then nothing was written.

    `starts` are processes that would begin, `waits` instances whose waits would end. A message that `is_kept` may end
    any wait that opens later.
    """

    async def __call__(self, starts: Sequence[Id] = (), waits: Sequence[Id] = (), *, is_kept: bool = False) -> None: ...


class Receipt(NamedTuple):
    """What became of a message. `reason` says why nobody took it, or what a known one led to."""

    outcome: MessageOutcome
    message_id: str
    instances: tuple[Id, ...] = ()
    reason: str = ""

    @property
    def is_unwanted(self) -> bool:
        """Whether nobody took it, and nobody will by what is known."""
        match self.outcome:
            case "no_subscription" | "ambiguous":
                return True
            case "correlated" | "buffered" | "started" | "accepted" | "duplicate":
                return False
            case _:
                assert_never(self.outcome)


class Broadcast(NamedTuple):
    """What became of a signal: how many waits it ended and instances it began; none when it was known already.

    `reached` is None where the engine does not count them.
    """

    message_id: str
    reached: int | None
    is_duplicate: bool = False


def sent_id(message_id: str) -> str:
    """The id the sender gave, whichever it is known by here."""
    return message_id.removeprefix(OTHER).partition("/")[2] if message_id.startswith(OTHER) else message_id
