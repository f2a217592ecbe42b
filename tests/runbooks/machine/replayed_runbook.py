"""A runbook on a board: the pure machine driven by hand, replayed after every move."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from perdure.errors import Rejection
from perdure.journal import Origin
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Failure, Runbook, Step, VerbPin, links_of
from perdure.sources import Id
from perdure.verb_contract import RetryPolicy

ID = Id(sha256(b"board").digest()[:16])
ASKER = Origin("default", "ada")
WORKER = 7
REFUSED = Failure("permanent_business", "refused", "They said no.")
ONCE = RetryPolicy(max_attempts=1)
TWICE = RetryPolicy(max_attempts=2, base_delay_seconds=10.0, jitter=0.0)


def hash_of(text: str) -> bytes:
    return sha256(text.encode()).digest()


def pin(verb: str) -> VerbPin:
    return VerbPin(verb, 1, hash_of(verb))


def step(name: str, *, verb: str = "", **links: Any) -> e.Added:
    """A step that asks for a verb of its own name."""
    return e.Added(name, verb or name, 1, hash_of(verb or name), **links)


def choice(name: str, *needs: int) -> e.Added:
    return e.Added(name, "", 0, b"", needs=needs)


class Board:
    """Each move is decided, compared with a replay from the first entry, and kept."""

    def __init__(self, *steps: e.Added, is_sealed: bool = True, **options: Any) -> None:
        self.machine = RunbookMachine()
        self.now = 1_700_000_000_000_000
        self.state: Runbook | None = None
        self.entries: list[Any] = []
        self.fresh: list[Any] = []
        if steps or not is_sealed:
            self.ask(c.StartRunbook(hash_of("plan"), hash_of("document"), steps, is_sealed=is_sealed, **options))

    def ask(self, command: c.Command, origin: Origin = ASKER) -> str | Rejection:
        self.now += 1_000_000
        answer = self.machine.decide(ID, self.state, command, origin, self.now, 0.5)
        if isinstance(answer, Rejection):
            return answer
        replayed = self.state
        for entry in answer.entries:
            replayed = self.machine.apply(replayed, entry)
        assert answer.state is None or answer.state == replayed
        self.state = replayed
        self.fresh = list(answer.entries)
        self.entries += answer.entries
        if replayed is not None:
            assert self.stored(replayed) == replayed
            self.machine.rows(ID, replayed)
            self.machine.notices(ID, replayed, answer.entries)
        return answer.answer

    def stored(self, state: Runbook) -> Runbook:
        """Written and read again."""
        machine = self.machine
        read = machine.decode(machine.encode(state))
        parts = machine.parts(state)
        return read if parts is None else machine.filled(read, [machine.encode_part(each) for each in parts])

    # --- moves ---------------------------------------------------------------------------------------------------

    def launch(self, *names: str, locks: tuple[str, ...] = ()) -> str | Rejection:
        """Begin ready steps, all of them unless some are named."""
        numbers = [self.number(name) for name in names] if names else list(self.course.ready)
        launches = tuple(c.Launch(each, hash_of(f"input {each}"), locks=locks) for each in numbers)
        return self.ask(c.LaunchSteps(WORKER, launches))

    def choose(self, name: str, side: bool) -> str | Rejection:
        return self.ask(c.LaunchSteps(WORKER, (c.Launch(self.number(name), outcome=c.Chosen(side)),)))

    def park(self, name: str) -> str | Rejection:
        number = self.number(name)
        return self.ask(c.LaunchSteps(WORKER, (c.Launch(number, hash_of("in"), c.Park(name, timeout_seconds=60.0)),)))

    def done(self, name: str, **options: Any) -> str | Rejection:
        return self._record(name, c.Done(hash_of(f"result {name}")), **options)

    def fails(self, name: str, policy: RetryPolicy = ONCE, kind: Any = "permanent_business") -> str | Rejection:
        return self._record(name, c.Fail(Failure(kind, "refused", "They said no."), policy))

    def _record(self, name: str, outcome: c.AttemptOutcome, **options: Any) -> str | Rejection:
        number = self.number(name)
        frame = self.step(name).frame
        attempt = frame.attempt if frame is not None else 1
        return self.ask(c.RecordAttempt(number, attempt, WORKER, outcome, **options))

    def runs(self, name: str) -> None:
        """Launched and completed."""
        self.launch(name)
        self.done(name)

    def completes(self, name: str, **options: Any) -> str | Rejection:
        token = len(self.step(name).tokens)
        return self.ask(c.Complete(self.number(name), token, hash_of(f"answer {name}"), **options))

    # --- looking -------------------------------------------------------------------------------------------------

    @property
    def runbook(self) -> Runbook:
        assert self.state is not None
        return self.state

    @property
    def course(self) -> Any:
        return self.runbook.course

    @property
    def status(self) -> str:
        return self.runbook.status

    def number(self, name: str) -> int:
        return next(at for at, each in enumerate(self.runbook.steps, 1) if links_of(each).name == name)

    def step(self, name: str) -> Step:
        return self.runbook.steps[self.number(name) - 1]

    @property
    def states(self) -> dict[str, str]:
        return {links_of(each).name: each.status for each in self.runbook.steps}

    def of(self, status: str) -> list[str]:
        return [name for name, each in self.states.items() if each == status]

    @property
    def fresh_names(self) -> list[str]:
        return [type(entry).__name__ for entry in self.fresh]
