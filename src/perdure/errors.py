"""Every error of the platform: one base, stable dotted codes, one sentence, data as attributes.

Four kinds, never mixed: a *rejection* (a value inside, `RejectedError` at the edge), a *verb outcome*
(`BusinessError`, `Transient`), an *incident* (a durable record, never an exception) and a broken
invariant (`InvariantBroken`, never caught below the process edge).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, assert_never, get_args

import msgspec

RejectionCode = Literal["invalid", "not_found", "already_exists", "wrong_state", "blocked", "forbidden"]


class EdgeCodes(NamedTuple):
    """What one rejection code becomes at each edge."""

    http_status: int
    exit_code: int
    mcp_error: int
    meaning: str


def edge_codes(code: RejectionCode) -> EdgeCodes:
    match code:
        case "invalid":
            meaning = "the command, its data, the definitions or a setting are wrong; nothing was done"
            return EdgeCodes(422, 2, -32602, meaning)
        case "not_found":
            return EdgeCodes(404, 3, -32001, "there is no such thing, or it belongs to another tenant")
        case "already_exists":
            return EdgeCodes(409, 4, -32002, "something else has that name or key")
        case "wrong_state":
            return EdgeCodes(409, 5, -32003, "it exists, but not in a state that allows this")
        case "blocked":
            return EdgeCodes(423, 6, -32004, "a guard is closed; the hint says what opens it")
        case "forbidden":
            return EdgeCodes(403, 7, -32005, "you may not")
        case _:
            assert_never(code)


EDGE_CODES: dict[RejectionCode, EdgeCodes] = {code: edge_codes(code) for code in get_args(RejectionCode)}


class Rejection(msgspec.Struct, frozen=True):
    """A command refused: nothing happened, and this says why and what to do."""

    code: RejectionCode
    do: str
    thing: str
    id: str
    fact: str
    hint: str = ""

    def sentence(self) -> str:
        return sentence(self.do, self.thing, self.id, self.fact, self.hint)


def sentence(do: str, thing: str, id: str, fact: str, hint: str = "") -> str:
    """The one sentence all errors are written in."""
    text = f"Expected to {do} {thing} '{id}', but {fact}."
    return f"{text} {hint}" if hint else text


class PerdureError(Exception):
    """Base of everything raised on purpose. `code` is stable and dotted; extra data are attributes."""

    code: ClassVar[str] = "perdure.error"

    def __init__(self, do: str, thing: str, id: str, fact: str, hint: str = "", **data: Any) -> None:
        super().__init__(sentence(do, thing, id, fact, hint))
        self.do, self.thing, self.id, self.fact, self.hint = do, thing, id, fact, hint
        self.data = data


class RejectedError(PerdureError):
    """A rejection that reached the edge; `rejection.code` is one of the closed codes."""

    code = "command.rejected"

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.do, rejection.thing, rejection.id, rejection.fact, rejection.hint)
        self.rejection = rejection


class ConfirmationRequiredError(RejectedError):
    """A plan that only a person may start; `data` has plan_hash, tier, reason, phrase, sentences and draft."""

    code = "confirmation.required"

    def __init__(self, rejection: Rejection, **data: Any) -> None:
        super().__init__(rejection)
        self.data = data


class StaleError(RejectedError):
    """A thing that has changed since it was looked at; `sequence` is its version now."""

    code = "request.stale"

    def __init__(self, id: str, sequence: int) -> None:
        fact = f"it has changed since it was read and is version {sequence} now"
        super().__init__(Rejection("wrong_state", "act on", "version", id, fact, "Read it again and decide anew."))
        self.sequence = sequence


class DefinitionError(PerdureError):
    """Definitions or configuration that do not load; `problems` holds every finding, not just the first."""

    code = "definition.invalid"

    def __init__(self, problems: list[Problem]) -> None:
        first = problems[0]
        super().__init__("load", "definition", first.where(), first.reason, first.hint)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(problem.sentence() for problem in self.problems)


class Problem(msgspec.Struct, frozen=True):
    """One finding in a source text: where it is, what is wrong, what to do."""

    code: str
    file: str
    line: int
    column: int
    field: str
    reason: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"

    def where(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def sentence(self) -> str:
        field = f" {self.field}:" if self.field else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.where()}: {self.code}:{field} {self.reason}.{hint}"


class ModelError(DefinitionError):
    """A process model that cannot be read or written; `field` of each problem is the id of the element."""

    code = "model.invalid"

    def __init__(self, problems: list[Problem], do: str = "read") -> None:
        first = problems[0]
        PerdureError.__init__(self, do, "model", first.where(), first.reason, first.hint)
        self.problems = problems


class ProgramError(DefinitionError):
    """A runbook's program that does not compile; `shown` holds every problem with its line, a caret and advice."""

    code = "program.invalid"

    def __init__(self, problems: list[Problem], shown: str = "") -> None:
        first = problems[0]
        PerdureError.__init__(self, "compile", "program", first.where(), first.reason, first.hint)
        self.problems = problems
        self.shown = shown

    def __str__(self) -> str:
        return self.shown or super().__str__()


class SchemaViolationError(PerdureError):
    """Data that does not fit its schema; `violations` lists each with its path."""

    code = "payload.schema"


class PayloadIntegrityError(PerdureError):
    """A payload whose bytes, hash or envelope do not agree: never a warning."""

    code = "payload.integrity"


class PayloadTooLargeError(PerdureError):
    """A payload over its budget; `largest` names the biggest fields."""

    code = "payload.too_large"


class MergeConflictError(PerdureError):
    """Two concurrent branches changed one path without a merge rule; `path` and `verbs` name them."""

    code = "payload.merge_conflict"


class StoreUnavailableError(PerdureError):
    """The store could not be reached or is locked; asking again under the same key is safe."""

    code = "store.unavailable"


class EngineUnavailableError(StoreUnavailableError):
    """The engine that carries an instance did not answer; the dispatch is kept and sent again."""

    code = "engine.unavailable"


class MissingKeyError(EngineUnavailableError):
    """An engine's payload was encrypted with a key that this process does not have; it is tried again."""

    code = "engine.key_missing"


class EngineSettingError(PerdureError):
    """An engine's url means nothing, its package is missing, or its server lacks something that is needed."""

    code = "engine.setting"


class StoreSettingError(PerdureError):
    """A connection that would not be durable, a schema too new, or a url that means nothing."""

    code = "store.setting"


class StoreFullError(PerdureError):
    """The disk is full; nothing of the refused commit was written."""

    code = "store.full"


class BusUnavailableError(PerdureError):
    """A broker could not be reached, or did not answer; what was handed to it may or may not have arrived."""

    code = "bus.unavailable"


class TenantBusyError(PerdureError):
    """A tenant has as much under way here as it may have; others of the process are not touched by it."""

    code = "tenant.busy"


class EffortError(PerdureError):
    """A computation that takes more work than one may; it was ended."""

    code = "effort.exceeded"


class FencedError(PerdureError):
    """This process lost its lease: it may write nothing more under that epoch."""

    code = "lease.fenced"


class QuarantinedError(PerdureError):
    """A stored row failed its check; the aggregate is set aside until a person looks at it."""

    code = "store.quarantined"


class DamagedPayloadError(QuarantinedError, PayloadIntegrityError):
    """A stored payload is changed, cut off or missing: `differs` names what, and its aggregate is set aside."""

    code = "payload.damaged"


class BlobDamagedError(PerdureError):
    """The stored bytes of a blob are changed, cut off or missing: nothing of the damaged part is given to anybody."""

    code = "blob.damaged"


class UnreadableFormError(PerdureError):
    """Stored bytes that are no form this release knows: damaged, or written by a newer one."""

    code = "store.form"


class InvariantBroken(PerdureError):
    """A promise of the platform itself does not hold: stop rather than write."""

    code = "perdure.invariant"


class RecordMisuseError(PerdureError):
    """A handler used records as its verb may not: writes without `effects: store`, nothing awaited, no such entity."""

    code = "record.misuse"


class CallFailedError(PerdureError):
    """A call that was waited for ended in failure; `error` carries the recorded failure."""

    code = "call.failed"


class BusinessError(Exception):
    """Raised by a handler for a modelled refusal; `code` is what a boundary event or caller may expect."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message or code)
        self.code = code


class Transient(Exception):
    """Raised by a handler for a failure that may pass; `after` asks for a delay in seconds."""

    def __init__(self, message: str = "", after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class TransientInfrastructure(Transient):
    """Raised by a handler for a failure of the ground it stands on (a database, a queue, a disk) that may pass."""


class ContractError(Exception):
    """Raised by a handler for something that no attempt can mend: a person must correct data, code or a definition."""
