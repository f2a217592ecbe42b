"""Handlers: the call they receive, the result they return, and the mark that binds a function to a verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal, TypeVar

import msgspec

from perdure.agent_usage import MAX_MODEL, MICRO, Meter, ModelUse
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.references import Resolver as Resolver
from perdure.verbs.references import UnresolvableError as UnresolvableError
from perdure.verbs.references import Wanted

MARK = "__perdure_verbs__"
Function = TypeVar("Function", bound=Callable[..., Any])
Lent = tuple[Mapping[str, Resolver], Callable[..., Any], Any]
"""What the router lends to the calls of a verb: who resolves references, what opens its records, and the verb."""


class Result(msgspec.Struct, frozen=True):
    """What a handler gives back: data for the payload and, for a process, flags. A plain dict is data alone."""

    data: Any = {}
    flags: dict[str, Any] = {}


class Decide(msgspec.Struct, frozen=True):
    """What a decision gives back: data as any result, and what it does to the rest of its runbook.

    `add` is a program, or a list of calls (`verb`, `args`, `name`, `after`); `skip` names steps that have not begun;
    `finish` says that nothing more is to run. All of it is recorded in the commit of the result, or none.
    """

    data: Any = {}
    add: str | list[dict[str, Any]] = ""
    skip: list[str] = []
    finish: bool = False
    reason: str = ""
    confidence: float | None = None

    @property
    def changes_anything(self) -> bool:
        return bool(self.add or self.skip or self.finish or self.reason or self.confidence is not None)


class StepSummary(msgspec.Struct, frozen=True):
    """One step as a decision sees it."""

    step_id: str
    name: str
    verb: str
    state: str
    sentence: str = ""
    result: Any = None
    error: str = ""


class PersonAnswer(msgspec.Struct, frozen=True):
    """What a person answered to the question of an agent; `key` is the question's. Of a proposal it is the result."""

    key: str
    value: Any
    is_result: bool = False
    flags: dict[str, Any] = {}


class DecisionPoint(msgspec.Struct, frozen=True):
    """Which decision is asked for: `kind` is step (its place in the program), resume (a wait has ended) or failure."""

    kind: Literal["step", "resume", "failure"]
    step: str
    """The name of the decision's own step."""
    verb: str
    about: str = ""
    """The step that was resumed or failed."""


class Alternative(msgspec.Struct, frozen=True):
    """A verb that could be tried in place of one that failed, with those arguments of the failed step that it takes."""

    verb: str
    description: str
    args: dict[str, Any]


class ResumptionContext(msgspec.Struct, frozen=True):
    """How far a runbook has come when one of its steps decides."""

    case_id: str
    runbook_id: str
    completed_step: StepSummary | None
    """The step whose end led to the decision: completed, or failed when it is asked about a failure."""
    all_completed_results: list[StepSummary]
    pending_steps: list[StepSummary]
    next_ready_steps: list[StepSummary]
    decision_point: DecisionPoint | None = None
    alternatives: list[Alternative] = []
    """Of a decision about a failure: the verbs that the failed one declares as its alternatives."""


SECRET = "secret"
"""The scheme of references to texts that are kept nowhere."""


class Call:
    """One attempt at a verb, as its handler sees it.

    `idempotency_key` is the same over every redelivery and retry; `iteration` tells the rounds of a loop apart;
    `context` tells a decision how far its runbook has come. `params` are those of the verb's definition, so that one
    handler serves many verbs; `correlation_key` is the key that ends the wait of a durable verb;
    `headers` are the literals that a model of the contract profile gives its task.
    """

    __slots__ = (
        "_answer",
        "_entities",
        "_is_over",
        "_key",
        "_lent",
        "_meter",
        "_owner",
        "_resolvers",
        "_secrets",
        "_whose",
        "args",
        "attempt",
        "call_id",
        "context",
        "correlation_key",
        "headers",
        "idempotency_key",
        "iteration",
        "params",
        "principal",
        "step_id",
        "tenant",
        "trace",
        "verb",
        "version",
    )

    def __init__(
        self,
        *,
        verb: str,
        version: int,
        args: dict[str, Any],
        call_id: str,
        step_id: str,
        tenant: str,
        principal: str,
        trace: Mapping[str, str] | None,
        idempotency_key: str,
        attempt: int,
        iteration: int = 0,
        resolvers: Mapping[str, Resolver] | None = None,
        entities: Any = None,
        context: ResumptionContext | None = None,
        meter: Meter | None = None,
        params: Mapping[str, Any] | None = None,
        correlation_key: str = "",
        key: str = "",
        headers: Mapping[str, str] | None = None,
        owner: str = "",
    ) -> None:
        self.verb, self.version, self.args = verb, version, args
        self.call_id, self.step_id = call_id, step_id
        self.tenant, self.principal, self.trace = tenant, principal, trace
        self.idempotency_key, self.attempt, self.iteration = idempotency_key, attempt, iteration
        self._resolvers: Mapping[str, Resolver] = resolvers if resolvers is not None else {}
        self._entities = entities
        self.context = context
        self._meter = meter
        self.params: Mapping[str, Any] = params if params is not None else {}
        self.correlation_key = correlation_key
        self.headers: Mapping[str, str] = headers if headers is not None else {}
        self._lent: Lent | None = None
        self._secrets: tuple[str, ...] = ()
        self._whose = tenant, principal, idempotency_key
        self._key = call_id, key
        self._owner = owner or call_id
        self._answer: PersonAnswer | None = None
        self._is_over = False

    async def resolve(self, uri: str) -> Any:
        """Fetches what a reference such as `record://company/4711` or `https://…` stands for: JSON, text or bytes.

        Who fetches which scheme, how much of it and for which verbs, `resolvers` of `perdure.yaml` says.
        """
        scheme, separator, _ = uri.partition("://")
        resolvers = self._lent[0] if self._lent is not None else self._resolvers
        resolver = resolvers.get(scheme) if separator else None
        if resolver is None:
            known = ", ".join(sorted(resolvers)) or "none"
            fact = f"nothing here fetches the scheme '{scheme}'" if separator else "it has no scheme"
            hint = did_you_mean(scheme, resolvers) or f"Known schemes: {known}. Others are added under `resolvers`."
            raise UnresolvableError("resolve", "reference", uri[:200], fact, hint)
        tenant, principal, _ = self._whose  # as it was made: a handler may have changed the others
        verb, (call, key) = self._lent[2].name if self._lent else self.verb, self._key
        found = await resolver(Wanted(uri, tenant, principal, verb, call=call, key=key))
        if scheme == SECRET:
            self._secrets = (*self._secrets, str(found))
        return found

    def secret(self, name: str) -> str:
        """The text of a secret that `perdure.yaml` declares for this verb; never return it."""
        resolver = (self._lent[0] if self._lent is not None else self._resolvers).get(SECRET)
        if resolver is None:
            raise UnresolvableError("resolve", "secret", name[:80], "this call was made without secrets")
        text = str(getattr(resolver, "text")(name))  # noqa: B009  the resolver of secrets has it
        self._secrets = (*self._secrets, text)
        return text

    def used(
        self, model: str, *, input_tokens: int | None = None, output_tokens: int | None = None, requests: int = 1,
        cost: str | int | Decimal | None = None,
    ) -> None:  # fmt: skip
        """Say what was asked of a model: it is recorded with this attempt, and counts against its budget.

        Tokens that are left out are not known, and neither is then what they cost, unless `cost` says it.
        """
        untold = requests if input_tokens is None or output_tokens is None else 0
        told = None if cost is None else int(Decimal(cost) * MICRO)
        use = ModelUse(model[:MAX_MODEL], input_tokens or 0, output_tokens or 0, requests, told, untold)
        self._metered().add(use)

    @property
    def entities(self) -> Any:
        """The records of this tenant."""
        if self._entities is None:
            self._entities = self._opened()
        return self._entities

    def _metered(self) -> Meter:
        if self._meter is None:
            self._meter = Meter()
        return self._meter

    def _opened(self) -> Any:
        if self._lent is None:
            fact = "this call was made without a store of entities"
            raise UnresolvableError(
                "use", "entities in call", self.call_id, fact, "Declare entities and run on a store."
            )
        _, opens, verb = self._lent
        tenant, principal, key = self._whose  # as it was made: a handler may have changed the others
        entities = opens(tenant, principal, verb, key)
        if self._is_over:
            entities.writes()
        return entities


class LateCall(Call):
    """A call whose particulars are made when its handler first asks for one: most look at their arguments only.

    `make` gives the whole call with these arguments: the same, however late.
    """

    __slots__ = ("_make", "_whole")

    def __init__(self, args: dict[str, Any], make: Callable[[dict[str, Any]], Call]) -> None:
        self.args, self._make = args, make
        self._entities = self._meter = None
        self._whole: Call | None = None
        self._lent = None
        self._secrets = ()

    def __getattr__(self, name: str) -> Any:
        """Whatever was not set: what somebody has set meanwhile stays."""
        if name == "entities":
            return self._opened()  # what was raised there is told, and not that there are none
        if name not in _PARTICULARS:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        if self._whole is None:
            self._whole = self._make(self.args)
        value = getattr(self._whole, name)
        setattr(self, name, value)
        return value


_PARTICULARS = frozenset(Call.__slots__)


class VerbMark(msgspec.Struct, frozen=True):
    """Left on a function by `@verb`."""

    name: str
    version: int | None = None


def verb(name: str, version: int | None = None) -> Callable[[Function], Function]:
    """Marks a function as the handler of a verb, of every version unless one is named. Nothing else happens."""

    def mark(function: Function) -> Function:
        marks: tuple[VerbMark, ...] = getattr(function, MARK, ())
        setattr(function, MARK, (*marks, VerbMark(name, version)))
        return function

    return mark


def marks_of(function: Any) -> tuple[VerbMark, ...]:
    """The marks left on an object, empty for anything that was not marked."""
    found = getattr(function, MARK, ())
    is_ours = isinstance(found, tuple) and all(isinstance(mark, VerbMark) for mark in found)
    return found if is_ours else ()
