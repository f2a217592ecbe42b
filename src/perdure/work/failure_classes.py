"""Failure classes of what a handler raised: whether another attempt may help, and who has to act.

| raised | class | code |
|---|---|---|
| `BusinessError` | `permanent_business` | its own |
| `Transient` | `transient_external` | `handler.transient` |
| `TransientInfrastructure` | `transient_infrastructure` | `handler.transient` |
| `ContractError` | `permanent_contract` | `handler.contract` |
| no connection or no answer in time; from an HTTP client 408, 429, 5xx | `transient_external` | `handler.unreachable` |
| a database or a disk that fails | `transient_infrastructure` | `handler.infrastructure` |
| a schema, budget or interface of ours broken | `permanent_contract` | the error's own |
| what Python raises for wrong code: TypeError, KeyError, … | `permanent_contract` | `handler.bug` |
| anything else | `transient_infrastructure` | `handler.error` |

A bug names its file and line. Its traceback, and that of anything else, is kept for operators.
"""

from __future__ import annotations

import errno
import sysconfig
import traceback
from pathlib import Path

import msgspec

from perdure.agent_usage import Used
from perdure.errors import (
    BusinessError,
    ContractError,
    PayloadTooLargeError,
    PerdureError,
    SchemaViolationError,
    StoreUnavailableError,
    Transient,
    TransientInfrastructure,
)
from perdure.payload import canonical, digest
from perdure.verb_contract import FailureClass
from perdure.verbs.compiled_verb import Verb

MAX_MESSAGE = 2000
MAX_TRACEBACK = 16_384
BUGS: frozenset[type[BaseException]] = frozenset({
    TypeError, KeyError, IndexError, LookupError, AttributeError, NameError, UnboundLocalError, AssertionError,
    ZeroDivisionError, OverflowError, NotImplementedError, RecursionError, ImportError, ModuleNotFoundError,
    SyntaxError, IndentationError, ValueError,
})  # fmt: skip
"""Themselves, not what others derive from them: a library's own error says something of its own."""
UNREACHABLE = frozenset({
    "TransportError", "TimeoutException", "NetworkError", "ConnectError", "ConnectTimeout", "ReadTimeout",
    "ConnectionError", "Timeout", "TimeoutError", "NewConnectionError", "MaxRetryError", "ProtocolError",
    "ClientConnectionError", "ServerTimeoutError", "ServerDisconnectedError", "URLError", "RemoteDisconnected",
})  # fmt: skip
"""Names by which clients of other systems call a connection that failed."""
DATABASE = frozenset({
    "OperationalError", "InterfaceError", "PoolTimeout", "PoolClosed", "TooManyRequests", "PostgresConnectionError",
    "CannotConnectNowError", "TooManyConnectionsError",
})  # fmt: skip
"""Names of PEP 249 and of pools by which drivers call a database that cannot be asked now."""
PASSING_STATUSES = frozenset({408, 425, 429})
NETWORK_ERRORS = frozenset({
    errno.ENETDOWN, errno.ENETUNREACH, errno.ENETRESET, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ETIMEDOUT,
    errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.ENOTCONN, errno.EADDRNOTAVAIL,
})  # fmt: skip
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
OWN = str(Path(__file__).parent.parent)


class Failed(msgspec.Struct, frozen=True, gc=False):
    """What a handler's failure means."""

    kind: FailureClass
    code: str
    message: str
    after_seconds: float | None = None
    used: Used | None = None
    trace: str = ""
    """The traceback of an error that nobody meant to raise; for operators only."""
    is_hold: bool = False
    """It could not be tried: the work waits, `after_seconds` or until somebody lets it go on, and no attempt counts."""


def classify(verb: Verb, error: Exception) -> Failed:
    """The failure class of what a handler raised."""
    told = _meant(verb, error)
    if told is not None:
        return told
    text = f"{type(error).__name__}: {error}"
    if is_unreachable(error):
        return Failed("transient_external", "handler.unreachable", text[:MAX_MESSAGE])
    if is_infrastructure(error):
        return Failed("transient_infrastructure", "handler.infrastructure", text[:MAX_MESSAGE])
    where, trace = _place(error), _trace(error)
    if type(error) in BUGS:
        fact = f"The handler of '{verb.name}' has a bug{where}: {text}"[: MAX_MESSAGE - 60]
        return Failed("permanent_contract", "handler.bug", f"{fact}. Mend it, then `incidents retry`.", trace=trace)
    return Failed("transient_infrastructure", "handler.error", f"{text[: MAX_MESSAGE - 200]}{where}", trace=trace)


def traceback_payload(failed: Failed) -> list[tuple[bytes, bytes]]:
    """The traceback with its hash, as it is kept beside the journal; empty when there is none."""
    if not failed.trace:
        return []
    data = canonical({"traceback": failed.trace})
    return [(digest(data), data)]


def _meant(verb: Verb, error: Exception) -> Failed | None:
    """The class of an error that says it itself."""
    text = (str(error) or type(error).__name__)[:MAX_MESSAGE]
    match error:
        case BusinessError():
            return Failed("permanent_business", error.code, text)
        case TransientInfrastructure():
            return Failed("transient_infrastructure", "handler.transient", text, error.after)
        case Transient():
            return Failed("transient_external", "handler.transient", text, error.after)
        case ContractError():
            return Failed("permanent_contract", "handler.contract", text)
        case StoreUnavailableError():
            return Failed("transient_infrastructure", error.code, text)
        case SchemaViolationError() | PayloadTooLargeError():
            hint = f" Correct the handler of '{verb.name}' or its schema, then `incidents retry`."
            return Failed("permanent_contract", error.code, f"{error}{hint}"[:MAX_MESSAGE])
        case PerdureError():
            return Failed("permanent_contract", error.code, text)
        case _:
            return None


def is_unreachable(error: BaseException) -> bool:
    """Whether another system could not be reached, did not answer in time, or asked to come later."""
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    if _is_named(error, DATABASE):
        return False
    if isinstance(error, OSError) and error.errno in NETWORK_ERRORS:
        return True
    status = getattr(getattr(error, "response", None), "status_code", None) or getattr(error, "status", None)
    if isinstance(status, int) and 100 <= status < 600:
        return status in PASSING_STATUSES or 500 <= status < 600
    return _is_named(error, UNREACHABLE) or type(error).__module__ in ("socket", "ssl")


def is_infrastructure(error: BaseException) -> bool:
    """Whether a database or a disk failed."""
    if _is_named(error, DATABASE) or isinstance(error, MemoryError):
        return True
    # Clients of other systems derive from OSError, too; those of the system itself have its number.
    return isinstance(error, OSError) and (error.errno is not None or type(error).__module__ == "builtins")


def _is_named(error: BaseException, names: frozenset[str]) -> bool:
    return any(each.__name__ in names for each in type(error).__mro__)


def _trace(error: Exception) -> str:
    """The traceback from the first line of the user's code on; the whole of it where there is none."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename.startswith((*LIBRARIES, OWN, "<")):
        at = at.tb_next
    lines = traceback.format_exception(type(error), error, at or error.__traceback__)
    return "".join(lines)[-MAX_TRACEBACK:]


def _place(error: BaseException) -> str:
    """The line of the user's code that an error comes from: the deepest that no library holds, without its folders."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if not each.filename.startswith((*LIBRARIES, OWN, "<"))]
    if not own and not frames:
        return ""
    place = (own or list(frames))[-1]
    return f" ({'/'.join(Path(place.filename).parts[-2:])}, line {place.lineno}, in {place.name})"
