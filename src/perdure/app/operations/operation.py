"""An operation: its name, request, answer, checks, repeat rule, HTTP routes and function in one row of the table."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, get_type_hints

import msgspec

from perdure.access.principal import Principal, Role
from perdure.access.roles import OPERATIONS, check, refusal
from perdure.access.signed_tokens import RequestName, WaitName
from perdure.access.verb_reach import may_read
from perdure.errors import InvariantBroken

if TYPE_CHECKING:
    from perdure.app.calls.view_builder import CallViews
    from perdure.app.feed.feed import Feed
    from perdure.app.lists.lists import Lists
    from perdure.app.perdure import Perdure
    from perdure.app.processes.processes import Views
    from perdure.app.runbooks.view_builder import RunbookViews
    from perdure.app.runtime import Runtime
    from perdure.journal import Origin

Repeat = Literal["safe", "domain", "answer"]
"""Asked again: `safe` changes nothing, `domain` knows the idempotency key itself, `answer` is kept and given again."""


ANY_VERSION = -1
"""Stands among versions for whichever the subject has: nothing is compared, and yet nobody else acts meanwhile."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of one operation: those in a path, in a query and in a body alike. Unknown fields are refused."""


R = TypeVar("R", bound=Request)
A = TypeVar("A")


class Context(msgspec.Struct, frozen=True):
    """A principal that asks, with the platform acting on the principal's behalf."""

    perdure: Perdure
    principal: Principal
    seen: frozenset[int] | None = None
    """Versions of the subject that the principal may have looked at; None compares nothing and locks nothing."""
    idempotency_key: str = ""
    wait: WaitName | None = None
    """The wait that the principal's token was signed for."""
    secret: bytes = b""
    """The secret that a server signs tokens with."""
    public_keys: Mapping[str, Any] = {}
    """The keys that seals are verified with, by name."""
    sequence: int | None = None
    """The version that the guard found; None where nothing was compared."""
    content: AsyncIterator[bytes] | None = None
    """Content that came with the request, as it comes."""
    media_type: str = ""
    """The media type that was said of the content."""
    file_name: str = ""
    """The name that was said of the content."""
    asked: RequestName | None = None
    """The request for a document that the principal's token was signed for."""
    is_owner: bool = False
    """The owner of the store asks, who reaches every verb: none is looked up."""

    @property
    def runtime(self) -> Runtime:
        return self.perdure.runtime

    @property
    def origin(self) -> Origin:
        return self.perdure._origin

    @property
    def views(self) -> Views:
        """Makes views of instances."""
        return self.perdure._views

    @property
    def lists(self) -> Lists:
        """Lists with nothing that the principal may not see."""
        return self.perdure._lists.seen_by(self.principal.verbs)

    @property
    def feed(self) -> Feed:
        """The feed with nothing that the principal may not see."""
        return self.perdure.feed.seen_by(self.principal.verbs)

    @property
    def is_narrow(self) -> bool:
        """Whether a key asks that reaches some verbs only."""
        return not self.is_owner and not self.principal.reaches_every_verb

    @property
    def calls(self) -> CallViews:
        """Makes views of calls."""
        return self.perdure._calls

    @property
    def runbook_views(self) -> RunbookViews:
        return self.perdure._runbook_views

    def check(self, operation: str, verb: str = "") -> None:
        """Refuse a principal whose roles or key do not allow the operation."""
        check(self.principal, operation, verb=verb)

    def check_all(self, operation: str, verbs: Iterable[str]) -> None:
        """Refuse a principal whose key does not reach every verb of a thing."""
        if self.is_narrow:
            for verb in verbs:
                self.check(operation, verb)

    def may(self, operation: str, verb: str = "") -> bool:
        return refusal(self.principal, operation, verb) is None

    def reaches(self, verbs: Iterable[str]) -> bool:
        """Whether the principal's key reaches every verb of a thing."""
        return not self.is_narrow or may_read(self.principal.verbs, verbs)


class Unscoped(msgspec.Struct, frozen=True):
    """The operation concerns no verb."""


class Redacted(msgspec.Struct, frozen=True):
    """Everybody with the role may ask; the answer leaves out data of verbs that the key does not reach."""


class Reached(msgspec.Struct, frozen=True):
    """The key must reach every verb of the subject, which `verbs` loads by the request."""

    verbs: Callable[[Context, Any], Awaitable[Iterable[str]]]


class Discovered(msgspec.Struct, frozen=True):
    """The verbs become known while the operation is performed, and its function checks each of them."""


Scope = Unscoped | Redacted | Reached | Discovered


class Route(NamedTuple):
    """A place in HTTP: fields named in the path come from there, the others from the query or the body."""

    method: Literal["GET", "POST", "PUT"]
    path: str
    status: int = 200
    name: str = ""
    """The name in the description of the API; default: that of the operation's function."""
    location: str = ""
    """The place of the thing that was made, before its id."""
    needs_body: bool = False
    """A body must be sent although every field has a default."""
    streams: bool = False
    """The body is content, handed on as it comes; the fields travel in the query."""


class Operation(msgspec.Struct, Generic[R, A], frozen=True):
    """One row of the table."""

    name: str
    id: str
    tag: str
    routes: tuple[Route, ...]
    scope: Scope
    guard: bool
    repeat: Repeat
    request: type[R]
    answer: Any
    function: Callable[[Context, R], Awaitable[A]]
    computes: bool = False
    """The answer is worked out and nothing is changed: it is abandoned when whoever asked has left."""

    @property
    def roles(self) -> frozenset[Role]:
        return OPERATIONS[self.name]

    @property
    def text(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def summary(self) -> str:
        """The first sentence of the function's docstring."""
        return self.text.partition("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".") + "."


def operation(
    name: str,
    *routes: Route,
    tag: str,
    scope: Scope,
    guard: bool = False,
    repeat: Repeat | None = None,
    computes: bool = False,
) -> Callable[[Callable[[Context, R], Awaitable[A]]], Operation[R, A]]:
    """Make a function the row of an operation; `name` is what a role or a key allows.

    Reads repeat safely; the answer of an act is kept unless the act knows idempotency keys itself.
    """
    if name not in OPERATIONS:
        raise InvariantBroken("declare", "operation", name, "no role is said to be allowed it")

    def made(function: Callable[[Context, R], Awaitable[A]]) -> Operation[R, A]:
        hints = get_type_hints(function, include_extras=True)
        again: Repeat = repeat or ("answer" if any(each.method == "POST" for each in routes) else "safe")
        return Operation(
            name,
            function.__name__,
            tag,
            routes,
            scope,
            guard,
            again,
            hints["request"],
            hints["return"],
            function,
            computes,
        )

    return made
