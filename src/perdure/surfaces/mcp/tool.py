"""A tool, and who uses it: what every room of tools is made of."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from perdure.access.principal import Principal, own_key
from perdure.access.roles import check, refusal
from perdure.access.verb_reach import may_read
from perdure.app import Perdure
from perdure.app.access.redaction import redacted
from perdure.app.operations.operation import A, Context, Operation, R
from perdure.app.operations.operation_execution import perform


class ToolSession(NamedTuple):
    """The platform on behalf of one principal."""

    perdure: Perdure
    principal: Principal

    def check(self, operation: str, verb: str = "") -> None:
        """Nothing when the principal may; else a rejection."""
        check(self.principal, operation, verb=verb)

    def check_all(self, operation: str, verbs: Iterable[str]) -> None:
        """Refuse a principal whose key does not reach every verb of a thing."""
        for verb in verbs if self.is_narrow else ():
            self.check(operation, verb)

    async def perform(self, operation: Operation[R, A], request: R, *, key: str = "") -> A:
        """Perform an operation of the table; under one idempotency key it happens once."""
        context = Context(self.perdure, self.principal, idempotency_key=own_key(self.principal, key))
        return await perform(context, operation, request)

    @property
    def is_narrow(self) -> bool:
        """Whether the principal's key reaches some verbs only."""
        return not self.principal.reaches_every_verb

    def reaches(self, verbs: Iterable[str]) -> bool:
        """Whether the principal's key reaches every verb of a thing."""
        return may_read(self.principal.verbs, verbs)

    async def redacted(self, answer: A) -> A:
        """An answer as the principal may see it."""
        return await redacted(self.perdure.data_verbs, self.principal, answer)

    def may(self, operation: str, verb: str = "") -> bool:
        return refusal(self.principal, operation, verb) is None


def tool_session(perdure: Perdure, principal: Principal, trace: str = "") -> ToolSession:
    """A desk at which every command carries who asked."""
    acting = perdure.acting(
        tenant=principal.tenant, principal=principal.name, groups=principal.groups, trace=trace,
        behind=principal.behind, key=principal.key,
    )  # fmt: skip
    return ToolSession(acting, principal)


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool. Its text is the docstring of what it does: a model reads it."""

    title: str
    operation: str
    takes: type[msgspec.Struct]
    gives: type[msgspec.Struct]
    act: Callable[[ToolSession, Any], Awaitable[msgspec.Struct]]
    is_reading: bool = False
    """It changes nothing."""
    is_destructive: bool = False
    """It ends or takes back something."""
    is_repeatable: bool = False
    """Asked twice with the same arguments, it happens once."""

    @property
    def name(self) -> str:
        return str(getattr(self.act, "__name__", ""))

    @property
    def text(self) -> str:
        return inspect.getdoc(self.act) or ""

    def input_schema(self) -> dict[str, Any]:
        return object_schema(self.takes)

    def output_schema(self) -> dict[str, Any]:
        return object_schema(self.gives)


def object_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a struct, an object at its root as the protocol wants it."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    name = schema["$ref"].rpartition("/")[2]
    root = {key: value for key, value in components.pop(name).items() if key != "title"}
    for each in components.values():
        each.pop("title", None)
    return {**root, "$defs": components} if components else root
