"""A case of the KYC example, driven as its users would: by calls, messages, tasks and time."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from perdure.app.calls.views import CallView
from perdure.app.instances.views import InstanceView
from perdure.app.tasks.views import TaskView
from perdure.payload import Envelope, digest_text, unpack
from perdure.testing import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Catalogue, load_catalogue
from perdure.verbs.definition import BUILT_IN_HANDLERS
from perdure.verbs.handlers import marks_of

ENTITY = "Allianz GmbH"
EXTRACT = {"documents": [{"document": "register-extract", "reference": "document://extract-1"}]}


GROUPS = {"rita": ("compliance",), "sam": ("senior-compliance",)}


class Case:
    """One call of `kyc.open-case` and the instance that carries it."""

    def __init__(self, sandbox: Sandbox, call: CallView) -> None:
        self.sandbox = sandbox
        self.id = call.id

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, url: str, kyc: Path, case_type: str = "periodic-review", **settings: Any
    ) -> AsyncIterator[Case]:
        async with sandbox_of(url, kyc, **settings) as sandbox:
            yield await cls.called(sandbox, case_type)

    @classmethod
    async def called(cls, sandbox: Sandbox, case_type: str = "periodic-review") -> Case:
        call = await sandbox.call("kyc.open-case", {"entity": ENTITY, "case_type": case_type})
        await sandbox.run_until_idle()
        return cls(sandbox, call)

    async def call(self) -> CallView:
        return await self.sandbox.status(self.id)

    async def instance(self) -> InstanceView:
        carrier = (await self.call()).carrier
        assert carrier is not None
        return await self.sandbox.instances.get(carrier.instance)

    async def number(self) -> str:
        """The case's own id, by which messages find it."""
        return str((await self.instance()).flags["orch_case_id"])

    async def stands_at(self) -> set[str]:
        return {token.element for token in (await self.instance()).tokens}

    async def send_documents(self, message_id: str = "m1") -> str:
        outcome = await self.sandbox.publish("docs_received", await self.number(), EXTRACT, message_id=message_id)
        await self.sandbox.run_until_idle()
        return outcome

    async def task(self) -> TaskView:
        (task,) = await self.sandbox.tasks.list()
        return task

    async def decide(self, outcome: str, by: str = "rita", **more: Any) -> None:
        key = (await self.task()).key
        await self.sandbox.acting(principal=by, groups=GROUPS[by]).tasks.complete(key, {"outcome": outcome, **more})
        await self.sandbox.run_until_idle()

    async def wait(self, duration: str) -> None:
        await self.sandbox.advance(duration)

    async def record(self) -> dict[str, Any]:
        found: dict[str, Any] = await self.sandbox.result("kyc.read-case", {"case_id": await self.number()})
        return found

    async def documents(self) -> dict[str, str]:
        found = await self.sandbox.result("kyc.list-documents", {"case_id": await self.number()})
        return {each["document"]: each["status"] for each in found["records"]}

    async def envelope(self) -> Envelope:
        """The payload as the store holds it: bytes, hashes and schema have been checked on the way out."""
        instances = self.sandbox.runtime.instances
        aggregate = await instances.read((await self.instance()).id, self.sandbox._origin)
        data = await self.sandbox.runtime.store.payload(aggregate.id, aggregate.state.head)
        return unpack((data.decode(), digest_text(aggregate.state.head)))


@asynccontextmanager
async def sandbox_of(
    url: str, kyc: Path, replaced: Mapping[str, Callable[..., Any]] | None = None, **settings: Any
) -> AsyncIterator[Sandbox]:
    """The example's verbs and models on a store, with some handlers replaced; what is in `models/` is deployed.

    Its verbs are read once, and its models are not linted and proved again: `test_kyc_models.py` shows that of each.
    """
    clock = settings.pop("clock", None) or VirtualSources(settings.pop("seed", 0))
    sandbox = await Sandbox.start(
        url, definitions=catalogue_of(kyc), models=[kyc / "models"],
        handlers={**example_handlers(kyc), **(replaced or {})}, clock=clock, checks=(), **settings,
    )  # fmt: skip
    try:
        yield sandbox
    finally:
        await sandbox.runtime.stop()


@functools.cache
def catalogue_of(kyc: Path) -> Catalogue:
    return load_catalogue([kyc / "verbs"])


def example_handlers(kyc: Path) -> dict[str, Callable[..., Any]]:
    """By verb where a function is marked, by its name where a definition names it."""
    modules = [import_module(each.name) for each in walk_packages(import_module("casework").__path__, "casework.")]
    marked = {mark.name: each for module in modules for each in vars(module).values() for mark in marks_of(each)}
    named = {verb.execution.handler or "" for verb in catalogue_of(kyc)} - BUILT_IN_HANDLERS - {""}
    return {**marked, **{name: _function(name) for name in named}}


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition("::")
    found: Callable[..., Any] = getattr(import_module(f"casework.{module}"), function)
    return found
