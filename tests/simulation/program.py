"""What clients do to their calls: a seeded choice of everything that can arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perdure.app.calls.views import CallView, ReceiptView
from perdure.app.perdure import Perdure
from perdure.runbooks.executor.call_executor import keyed_id
from perdure.sources import id_text, parse_id
from tests.simulation.clients import Clients, Thing
from tests.simulation.verbs import STARTED
from tests.simulation.world import World

TENANT = "default"


@dataclass
class Asked:
    """A call a client knows of; its id follows from its key, so it is known before it is started."""

    key: str
    verb: str
    id: str
    start: Thing


class Program:
    """Makes things and sends them."""

    def __init__(self, world: World, clients: Clients) -> None:
        self.world = world
        self.clients = clients
        self.asked: list[Asked] = []
        self.loose: list[str] = []
        """Ids of acknowledged calls that were asked for without a key."""
        self.messages: list[str] = []
        self._counter = 0
        self._proposed: list[Asked] = []

    def _next(self) -> int:
        self._counter += 1
        return self._counter

    def _any(self) -> Asked | None:
        """A call, more often a recent one."""
        if not self.asked:
            return None
        recent = self.asked[-6:] if self.world.chance.random() < 0.7 else self.asked
        return self.world.chance.choice(recent)

    def _send(self, name: str, act: Any, check: Any = None, *, is_repeatable: bool = True) -> Thing:
        may_not_fit = name.split(maxsplit=1)[0] in ("complete", "replay", "resolve", "amend")
        thing = Thing(name, act, check or _nothing, is_repeatable, may_not_fit)
        self.clients.send(thing)
        return thing

    # --- starts --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        verb = self.world.chance.choice(STARTED)
        args = {"name": self.world.chance.choice("ab")} if verb == "s.named" else {}
        if self.world.chance.random() < 0.1:
            self._start_loose(verb, args)
            return
        key = f"k{self._next()}"
        letters = id_text(keyed_id(TENANT, key))

        async def act(perdure: Perdure) -> CallView:
            return await perdure.call(verb, args, idempotency_key=key)

        async def check(view: CallView) -> None:
            if view.id != letters:
                self.world.violated(f"start {key} was answered with call {view.id} instead of {letters}")
            await self._is_stored(view)

        thing = self._send(f"start {key} {verb} as {letters[-6:]}", act, check)
        self.asked.append(Asked(key, verb, letters, thing))

    def _start_loose(self, verb: str, args: dict[str, Any]) -> None:
        async def act(perdure: Perdure) -> CallView:
            return await perdure.call(verb, args)

        async def check(view: CallView) -> None:
            self.loose.append(view.id)
            await self._is_stored(view)

        self._send(f"start-once {self._next()} {verb}", act, check, is_repeatable=False)

    async def _is_stored(self, view: CallView) -> None:
        """An answer is given after the commit it speaks of, never before."""
        loaded = await self.world.store.load(parse_id(view.id))
        if loaded is None or loaded.version < view.sequence:
            self.world.violated(f"call {view.id} was answered before its commit")

    # --- completions ---------------------------------------------------------------------------------------------

    def complete(self) -> None:
        asked = self._any()
        if asked is None:
            return
        chance = self.world.chance
        key = f"order-{chance.choice('ab')}" if asked.verb == "s.named" else f"{asked.id}:1"
        if chance.random() < 0.15:
            key = f"{asked.id}:1/escalation"
        message = f"m{self._next()}"
        options: dict[str, Any] = {"message_id": message} if chance.random() < 0.7 else {}
        kind = chance.random()
        if kind < 0.1:
            options |= {"error": f"no {message}"}
        elif kind < 0.2:
            options |= {"status": "expired", "message_id": message}
        elif kind < 0.3:
            options |= {"result": {"other": message}}
        else:
            options |= {"result": {"message": message}}
        self._complete(key, options)

    def _complete(self, key: str, options: dict[str, Any]) -> None:
        async def act(perdure: Perdure) -> ReceiptView:
            return await perdure.complete(key, **options)

        async def check(receipt: ReceiptView) -> None:
            self.messages.append(receipt.message_id)
            if await self.world.store.message(TENANT, receipt.message_id) is None:
                self.world.violated(f"message {receipt.message_id} was answered before its commit")

        self._send(f"complete {key[-12:]} {options}", act, check)

    def replay(self) -> None:
        """A person looks at the dead letters and sends one on, perhaps to another call."""
        asked = self._any()
        key = f"{asked.id}:1" if asked is not None and self.world.chance.random() < 0.5 else ""
        pick = self.world.chance.random()

        async def act(perdure: Perdure) -> ReceiptView | None:
            letters = await perdure.dead_letters()
            if not letters:
                return None
            chosen = letters[int(pick * len(letters))]["message_id"]
            return await perdure.replay(chosen, key=key)

        self._send(f"replay {self._next()} {key[-8:]}", act)

    def discard(self) -> None:
        async def act(perdure: Perdure) -> None:
            letters = await perdure.dead_letters()
            if letters:
                await perdure.discard(letters[0]["message_id"], "not ours")

        self._send(f"discard {self._next()}", act)

    # --- people --------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        self._on_call("cancel", lambda perdure, asked: perdure.cancel(asked.id))

    def progress(self) -> None:
        text = f"step {self._next()}"
        self._on_call(f"progress {text}", lambda perdure, asked: perdure.progress(f"{asked.id}:1", text))

    def retry(self) -> None:
        self._on_call("retry", lambda perdure, asked: perdure.retry(asked.id))

    def resolve(self) -> None:
        result = {"message": f"by hand {self._next()}", "ok": True}
        self._on_call("resolve", lambda perdure, asked: perdure.resolve(asked.id, result))

    def fail_by_hand(self) -> None:
        self._on_call("fail", lambda perdure, asked: perdure.resolve(asked.id, error="given up"))

    def propose(self) -> None:
        reason = f"typo {self._next()}"

        async def act(perdure: Perdure, asked: Asked) -> CallView:
            view = await perdure.amend(asked.id, {"message": reason}, reason=reason, target="result")
            self._proposed.append(asked)
            return view

        self._on_call(f"amend {reason}", act)

    def approve(self) -> None:
        number = self.world.chance.randrange(1, 3)

        async def act(perdure: Perdure, asked: Asked) -> CallView:
            return await perdure.acting(principal="second").amend(asked.id, approve=number)

        proposed = self.world.chance.choice(self._proposed) if self._proposed else None
        self._on_call(f"approve {number}", act, proposed)

    def erase(self) -> None:
        self._on_call("erase", lambda perdure, asked: perdure.erase(asked.id, "asked for"))

    def _on_call(self, name: str, act: Any, asked: Asked | None = None) -> None:
        asked = asked or self._any()
        if asked is None:
            return

        async def go(perdure: Perdure) -> Any:
            return await act(perdure, asked)

        async def check(answer: Any) -> None:
            view = answer.call if isinstance(answer, ReceiptView) else answer
            assert view is not None
            await self._is_stored(view)

        self._send(f"{name} {asked.id[-6:]}", go, check).call = asked.id


async def _nothing(answer: Any) -> None:
    return None
