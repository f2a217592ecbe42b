"""The one table of exit codes: rejections have those of every edge, the rest are the command line's own."""

from __future__ import annotations

from typing import NamedTuple

OK = 0
FAILED = 1
INVALID = 2
STORE = 8
INTEGRITY = 9
INTERNAL = 10
NOT_YET = 11
LATE = 12
INTERRUPTED = 130
QUARANTINED = "quarantined"
"""The state of a view after which a command ends with INTEGRITY."""
UNKNOWN_VERB = "DSL101"
"""An expression whose only fault is that a verb is not there."""


class Exit(NamedTuple):
    """One exit code, its name and what it tells a script."""

    code: int
    name: str
    meaning: str


def exits() -> list[Exit]:
    """Every code the command line can end with, in order."""
    from perdure.errors import EDGE_CODES

    rejections = [Exit(edge.exit_code, code, edge.meaning) for code, edge in EDGE_CODES.items()]
    return sorted([*_OWN, *rejections])


def exit_code(error: BaseException) -> int:
    """The exit code an error ends with."""
    from perdure import errors

    match error:
        case errors.RejectedError():
            return errors.EDGE_CODES[error.rejection.code].exit_code
        case errors.CallFailedError():
            return FAILED
        case errors.DefinitionError() if {problem.code for problem in error.problems} == {UNKNOWN_VERB}:
            return errors.EDGE_CODES["not_found"].exit_code
        case (
            errors.DefinitionError()
            | errors.SchemaViolationError()
            | errors.PayloadTooLargeError()
            | errors.StoreSettingError()
            | errors.EffortError()
        ):
            return INVALID
        case errors.TenantBusyError():
            return errors.EDGE_CODES["blocked"].exit_code
        case (
            errors.StoreUnavailableError()
            | errors.StoreFullError()
            | errors.FencedError()
            | errors.BusUnavailableError()
        ):
            return STORE
        case errors.PayloadIntegrityError() | errors.QuarantinedError() | errors.BlobDamagedError():
            return INTEGRITY
        case KeyboardInterrupt():
            return INTERRUPTED
        case _:
            return INTERNAL


_OWN = (
    Exit(OK, "ok", "done; a call that parked is also done with asking"),
    Exit(
        FAILED,
        "failed",
        "the call failed, was cancelled or needs a person; `lint` or `fmt --check` found something, `prove` refuted, "
        "or `deploy --check` found what must stay pinned",
    ),
    Exit(STORE, "store", "the store cannot be reached, is locked or full; asking again under the same key is safe"),
    Exit(INTEGRITY, "integrity", "stored bytes are not what was written: quarantine, or findings of `audit verify`"),
    Exit(INTERNAL, "internal", "Perdure itself is at fault; `PERDURE_DEBUG=1` shows where"),
    Exit(
        NOT_YET,
        "not_yet",
        "the time given with `--timeout` ran out, the call goes on; or `prove` or `deploy --check` reached a bound",
    ),
    Exit(LATE, "late", "it came too late: what it was for has ended, so it was noted and not applied"),
    Exit(INTERRUPTED, "interrupted", "stopped by Ctrl-C"),
)
