"""Contracts that verb definitions share: flags, failure classes, retry policies, consequence tiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, assert_never, get_args

import msgspec

from perdure.durations import DurationError, parse_span
from perdure.errors import SchemaViolationError
from perdure.moments import is_date_time

FailureClass = Literal["transient_external", "transient_infrastructure", "permanent_contract", "permanent_business"]
ConsequenceTier = Literal["benign", "reviewable", "requires_confirmation", "requires_authorisation"]
Backoff = Literal["exponential", "linear", "fixed"]
FlagType = Literal["string", "boolean", "integer", "enum"]
FlagMerge = Literal["any", "all", "sum", "max"]
FlagFormat = Literal["duration", "date-time"]

FAILURE_CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)
CONSEQUENCE_TIERS: tuple[ConsequenceTier, ...] = get_args(ConsequenceTier)
"""From the mildest to the gravest."""

FailureNature = Literal["temporary", "business", "contract"]
"""Temporary: another attempt may succeed · business: modelled, a process may catch it · contract: somebody must mend
a definition or a handler."""

FLAG_NAME = re.compile(r"orch_[a-z][a-z0-9_]{0,62}")
SAFE_INTEGER = 2**53 - 1
MAX_FLAG_TEXT = 1024
"""Longest text a flag may hold: flags steer, they do not carry data."""


def nature_of(failure: FailureClass) -> FailureNature:
    """The nature of a failure class: decides what follows once no further attempt does."""
    match failure:
        case "transient_external" | "transient_infrastructure":
            return "temporary"
        case "permanent_business":
            return "business"
        case "permanent_contract":
            return "contract"
        case _:
            assert_never(failure)


def tier_rank(tier: ConsequenceTier) -> int:
    """0 for benign, growing with the gravity, so that two tiers can be compared."""
    return CONSEQUENCE_TIERS.index(tier)


def is_grave(tier: ConsequenceTier) -> bool:
    """Whether a person has to agree first."""
    match tier:
        case "benign" | "reviewable":
            return False
        case "requires_confirmation" | "requires_authorisation":
            return True
        case _:
            assert_never(tier)


class FlagContract(msgspec.Struct, frozen=True):
    """What one `orch_*` flag may hold, who may write it and how concurrent writes combine.

    Empty `writers` means: the sub-verbs of the durable verb that declares the flag.
    """

    name: str
    type: FlagType
    values: tuple[str, ...] = ()
    initial: str | bool | int | None = None
    once: bool = False
    writers: tuple[str, ...] = ()
    merge: FlagMerge | None = None
    format: FlagFormat | None = None
    argument: str = ""
    """The argument of the durable verb that the flag takes its first value from; empty for none."""

    @property
    def begins_set(self) -> bool:
        """Whether the flag says something before any verb wrote it."""
        return self.initial is not None or bool(self.argument)

    def starting_value(self) -> str | bool | int:
        """The value before anyone wrote: the declared one, or the type's empty one."""
        if self.initial is not None:
            return self.initial
        match self.type:
            case "string":
                return ""
            case "boolean":
                return False
            case "integer":
                return 0
            case "enum":
                return self.values[0]
            case _:
                assert_never(self.type)

    def fault(self, value: Any) -> str | None:
        """Why `value` may not be written to this flag, or None when it may."""
        match self.type:
            case "boolean":
                return None if isinstance(value, bool) else f"{_shown(value)} is not true or false"
            case "integer":
                return _integer_fault(value)
            case "enum":
                allowed = ", ".join(self.values)
                is_known = isinstance(value, str) and value in self.values
                return None if is_known else f"{_shown(value)} is not one of {allowed}"
            case "string":
                return _text_fault(value, self.format)
            case _:
                assert_never(self.type)

    def check(self, value: Any) -> None:
        """Raises SchemaViolationError when the flag may not hold `value`."""
        reason = self.fault(value)
        if reason is not None:
            raise SchemaViolationError("set", "flag", self.name, reason, violations=[_violation(self.name, reason)])


def flag_content(flag: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a flag as hashes cover it: a key that nobody uses leaves them as they were before it existed."""
    return flag if flag["argument"] else {name: value for name, value in flag.items() if name != "argument"}


def flag_faults(contracts: Iterable[FlagContract], flags: Mapping[str, Any]) -> dict[str, str]:
    """The reason per flag that is undeclared or does not fit its contract; empty when all fit."""
    known = {contract.name: contract for contract in contracts}
    faults: dict[str, str] = {}
    for name, value in flags.items():
        contract = known.get(name)
        if contract is None:
            declared = ", ".join(known) or "none"
            faults[name] = f"it is not declared (declared: {declared})"
        elif (reason := contract.fault(value)) is not None:
            faults[name] = reason
    return faults


def check_flags(contracts: Iterable[FlagContract], flags: Mapping[str, Any]) -> None:
    """Raises one SchemaViolationError listing every flag that is undeclared or does not fit."""
    faults = flag_faults(contracts, flags)
    if faults:
        fact = "; ".join(f"{name}: {reason}" for name, reason in faults.items())
        violations = [_violation(name, reason) for name, reason in faults.items()]
        hint = "Declare the flag under execution.flags of the durable verb or correct the value."
        raise SchemaViolationError("set", "flags", ", ".join(faults), fact, hint, violations=violations)


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often and how patiently a failed attempt is repeated; `max_attempts` includes the first."""

    max_attempts: int = 1
    backoff: Backoff = "exponential"
    base_delay_seconds: float = 1.0
    max_delay_seconds: float = 60.0
    jitter: float = 0.1
    retry_on: tuple[FailureClass, ...] = ("transient_external", "transient_infrastructure")

    def delay_seconds(self, attempt: int, random: float) -> float:
        """Seconds to wait after failed attempt number `attempt` (1 is the first); `random` is in [0, 1)."""
        delay = self.base_delay_seconds * self._factor(attempt)
        spread = delay * self.jitter * (2 * random - 1)
        return max(0.0, min(delay + spread, self.max_delay_seconds))

    def allows(self, attempt: int, failure: FailureClass) -> bool:
        """Whether another attempt follows attempt number `attempt` that failed this way."""
        return attempt < self.max_attempts and failure in self.retry_on

    def _factor(self, attempt: int) -> int:
        match self.backoff:
            case "fixed":
                return 1
            case "linear":
                return max(1, attempt)
            case "exponential":
                # Bounded, so that a large attempt number cannot overflow a float.
                return 1 << min(max(0, attempt - 1), 62)
            case _:
                assert_never(self.backoff)


class UnreachablePolicy(msgspec.Struct, frozen=True):
    """How long a step waits for an engine that cannot be reached, and how patiently it is asked again."""

    timeout_seconds: float
    base_delay_seconds: float = 1.0
    max_delay_seconds: float = 60.0

    def delay_seconds(self, tries: int) -> float:
        """Seconds to wait after so many attempts that failed."""
        return unreachable_delay(tries, self.base_delay_seconds, self.max_delay_seconds)


def unreachable_delay(tries: int, base: float = 1.0, most: float = 60.0) -> float:
    """Twice as long after each attempt, up to a bound."""
    return min(base * (1 << min(max(0, tries - 1), 62)), most)


def _integer_fault(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{_shown(value)} is not an integer"
    return None if abs(value) <= SAFE_INTEGER else f"{_shown(value)} is beyond 2^53-1, the largest exact JSON integer"


def _text_fault(value: Any, format: FlagFormat | None) -> str | None:
    if not isinstance(value, str):
        return f"{_shown(value)} is not text"
    if len(value) > MAX_FLAG_TEXT:
        return f"it has {len(value)} characters and a flag holds at most {MAX_FLAG_TEXT}"
    match format:
        case None:
            return None
        case "duration":
            return _duration_fault(value)
        case "date-time":
            return None if is_date_time(value) else f"{_shown(value)} is not a date and time with offset (RFC 3339)"
        case _:
            assert_never(format)


def _duration_fault(value: str) -> str | None:
    try:
        parse_span(value)
    except DurationError as error:
        return f"{_shown(value)} is refused: {error.fact}"
    return None


def _violation(flag: str, reason: str) -> dict[str, str]:
    return {"path": f"$.{flag}", "reason": reason}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
