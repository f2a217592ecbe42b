"""The story of a KYC case that every engine tells alike: `kyc.open-case` from its call to a decision on a bad day.

| what happens | what it must come to |
|---|---|
| the call is made twice under one key | one case |
| the documents come before anybody waits for them | the message is kept, and the wait finds it |
| the same message comes again | a duplicate |
| a job that ran is delivered again | its verb does not run again |
| our process and the engine are killed, three times | both go on where they were |
| a byte of the payload is changed before a job | an incident; mended and retried, the job runs |
| nobody decides for three days, where the stage can move time | a senior is asked |

A stage holds the engine. `play` answers with everything that must be equal; ids and times are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from perdure import Call, Result, Transient
from perdure.payload import Envelope, data_hash, digest_text, unpack
from perdure.sources import parse_id
from perdure.store.audit import verify
from perdure.testing import Sandbox
from tests.conformance.stores import Raw
from tests.examples.casebook import ENTITY, EXTRACT, GROUPS

CASE = "7f3f0f6e-6c8e-4b51-9d6a-0b5a8f0f4e11"
"""The case's own id: data must be equal on every engine, so it is not made up on the way."""
KEY = "one-case"
CLOSED_SECONDS = 8
OWN = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|sha256:[0-9a-f]{64}")


class Stage(Protocol):
    """An engine with a platform that uses it, both of which may be killed."""

    @property
    def sandbox(self) -> Sandbox:
        """The platform as it runs now; another one after `restart`."""
        ...

    @property
    def store(self) -> str:
        """The url of its store."""
        ...

    @property
    def moves_time(self) -> bool: ...

    async def rest(self) -> None:
        """Wait until nothing is left to do now."""
        ...

    async def advance(self, duration: str) -> None: ...

    async def restart(self, while_down: Callable[[], None]) -> None:
        """Kill our process, and the engine where it survives that; both begin again with what was durable."""
        ...

    async def deliver_again(self, instance: str) -> None:
        """Bring every job that has run to a worker once more."""
        ...


class Turn(msgspec.Struct, frozen=True):
    """Where the case is after something happened."""

    after: str
    state: str
    stands_at: tuple[str, ...]
    data_hash: str
    flags: dict[str, Any]


class Story(msgspec.Struct, frozen=True):
    """Everything that engines must agree on."""

    turns: tuple[Turn, ...]
    messages: tuple[str, ...]
    trail: tuple[tuple[str, str, str, str], ...]
    """Verb, its place, hash before and after."""
    outcomes: tuple[str, ...]
    runs: tuple[str, ...]
    """Attempts of handlers as verb and place, in order."""
    incidents: tuple[str, ...]
    result: dict[str, Any]
    findings: tuple[str, ...]
    """What is wrong with the store afterwards."""


class Desk:
    """Handlers of the example, two of which behave badly once, and a record of every attempt."""

    def __init__(self, handlers: Mapping[str, Callable[..., Any]]) -> None:
        self._handlers = handlers
        self.runs: list[str] = []
        self._is_open = False

    @property
    def handlers(self) -> dict[str, Callable[..., Any]]:
        return {name: self._noted(name, handler) for name, handler in self._handlers.items()}

    def _noted(self, name: str, handler: Callable[..., Any]) -> Callable[..., Any]:
        async def noted(call: Call) -> Any:
            if not name.startswith("kyc."):
                return await handler(call)
            self.runs.append(f"{name} {_place(call.idempotency_key)}")
            if name == "kyc.create-case-record":
                return await self._create(call)
            if name == "kyc.request-documents" and not self._is_open:
                self._is_open = True
                raise Transient("the desk opens in a moment", after=CLOSED_SECONDS)
            return await handler(call)

        return noted

    async def _create(self, call: Call) -> Result:
        fields = {**call.args, "case_id": CASE, "risk": "low", "status": "open", "reminders": 0}
        await call.entities.create("kyc_case", fields)
        return Result({"case_id": CASE, "risk": "low"}, flags={"orch_case_id": CASE})


def _place(key: str) -> str:
    """A job's key without the id of its instance."""
    return key.partition("/")[2]


class Player:
    """Plays the story on a stage."""

    def __init__(self, stage: Stage, desk: Desk) -> None:
        self._stage = stage
        self._desk = desk
        self._turns: list[Turn] = []
        self._messages: list[str] = []
        self._incidents: list[str] = []
        self._call = self._instance = ""

    async def play(self) -> Story:
        await self._begin()
        await self._publish("m1")
        await self._turn("an early message")
        await self._damage()
        await self._publish("m1")
        await self._publish("m2")
        await self._stage.deliver_again(self._instance)
        await self._stage.rest()
        await self._turn("jobs were delivered again")
        await self._stage.restart(_nothing)
        await self._stage.rest()
        await self._turn("a restart")
        await self._decide()
        return await self._story()

    async def _begin(self) -> None:
        asked = {"entity": ENTITY, "case_type": "periodic-review"}
        calls = [await self._sandbox.call("kyc.open-case", asked, idempotency_key=KEY) for _ in range(2)]
        assert len({each.id for each in calls}) == 1, "one key, one call"
        self._call = calls[0].id
        await self._stage.rest()
        carrier = (await self._sandbox.status(self._call)).carrier
        assert carrier is not None
        self._instance = carrier.instance
        await self._turn("the call")

    async def _publish(self, id: str) -> None:
        """Another message finds nobody: the case has its documents."""
        ttl = 3600 if id == "m1" else 0
        self._messages.append(
            await self._sandbox.publish("docs_received", CASE, EXTRACT, message_id=id, ttl_seconds=ttl)
        )
        await self._stage.rest()

    async def _damage(self) -> None:
        """A byte is changed while everything is down; the job that is tried again meets it."""
        kept: list[tuple[Any, ...]] = []
        await self._stage.restart(lambda: kept.extend(damaged(self._stage.store, self._instance)))
        await self._stage.rest()
        await self._stage.advance(f"PT{CLOSED_SECONDS}S")
        view = await self._sandbox.instances.get(self._instance)
        self._incidents += [f"{each.element}: {each.code}" for each in view.incidents]
        await self._stage.restart(lambda: mended(self._stage.store, self._instance, kept))
        await self._stage.rest()
        await self._turn("the byte is mended")
        for each in view.incidents:
            await self._sandbox.instances.retry(self._instance, each.token)
        await self._stage.rest()
        await self._turn("the incident is retried")

    async def _decide(self) -> None:
        if self._stage.moves_time:
            await self._stage.advance("P2D")
            await self._turn("two days and two reminders")
            await self._stage.advance("P1D")
            await self._turn("a third day")
        await self._answer("sam" if self._stage.moves_time else "rita")
        await self._turn("the decision")

    async def _answer(self, by: str) -> None:
        (task,) = await self._sandbox.tasks.list()
        person = self._sandbox.acting(principal=by, groups=GROUPS[by])
        await person.tasks.complete(task.key, {"outcome": "approved", "reason": "all in order"})
        await self._stage.rest()

    # --- what is kept --------------------------------------------------------------------------------------------

    @property
    def _sandbox(self) -> Sandbox:
        return self._stage.sandbox

    async def _turn(self, after: str) -> None:
        view = await self._sandbox.instances.get(self._instance)
        envelope = await self._envelope()
        stands_at = tuple(sorted(token.element for token in view.tokens))
        flags = dict(sorted(view.flags.items()))
        self._turns.append(Turn(after, view.state, stands_at, data_hash(envelope.data), flags))

    async def _envelope(self) -> Envelope:
        """The payload as the store holds it: bytes, hashes and schema are checked on the way out."""
        runtime = self._sandbox.runtime
        aggregate = await runtime.instances.read(self._instance, self._sandbox._origin)
        data = await runtime.store.payload(aggregate.id, aggregate.state.head)
        return unpack((data.decode(), digest_text(aggregate.state.head)))

    async def _story(self) -> Story:
        call = await self._sandbox.status(self._call)
        events = [each async for each in self._sandbox.outcome_events(self._call)]
        trail = (await self._envelope()).sub_verb_trail
        return Story(
            turns=tuple(self._turns),
            messages=tuple(self._messages),
            trail=tuple((each.verb, _place(each.job_key), each.hash_in, each.hash_out) for each in trail),
            outcomes=tuple(self._plain(f"{each.event} {each.kind} {each.text}") for each in events),
            runs=tuple(self._desk.runs),
            incidents=tuple(self._incidents),
            result={"state": call.state, "result": call.result},
            findings=tuple(await self._findings()),
        )

    def _plain(self, text: str) -> str:
        """Without ids, times and the hashes of envelopes, which hold both."""
        return OWN.sub("…", text.replace(self._call, "CALL").replace(self._instance, "INSTANCE"))

    async def _findings(self) -> list[str]:
        runtime = self._sandbox.runtime
        report = await verify(runtime.store, runtime.machines, {}, dry=True)
        return [str(each) for each in report.findings if each.place not in ("seal", "quarantine")]


def _nothing() -> None:
    """While everything is down, nothing happens."""


def damaged(store: str, instance: str) -> list[tuple[Any, ...]]:
    """Change the last byte of what an instance carries; what was there, to mend it by."""
    with Raw(store) as raw:
        kept = raw("SELECT number, stored FROM payload WHERE aggregate = ?", parse_id(instance))
        for number, stored in kept:
            changed = bytes(stored[:-1]) + bytes([stored[-1] ^ 1])
            raw("UPDATE payload SET stored = ? WHERE number = ?", changed, number)
        return kept


def mended(store: str, instance: str, kept: list[tuple[Any, ...]]) -> None:
    """Put the bytes back, and lift what the store noted of the damage, as a restored file would."""
    with Raw(store) as raw:
        raw("DELETE FROM quarantine WHERE aggregate = ?", parse_id(instance))
        for number, stored in kept:
            raw("UPDATE payload SET stored = ? WHERE number = ?", stored, number)


async def play(stage: Stage, desk: Desk) -> Story:
    return await Player(stage, desk).play()
