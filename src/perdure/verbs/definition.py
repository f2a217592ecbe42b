"""The declared form of a verb and of an entity: frozen values with a content hash."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from perdure.human_tasks import TaskContract
from perdure.payload import data_hash
from perdure.verb_contract import ConsequenceTier, FlagContract, FlagMerge, RetryPolicy, UnreachablePolicy, flag_content
from perdure.verbs.agent_handlers import AgentContract

ExecutionKind = Literal["sync", "durable"]
Effects = Literal["none", "store", "external"]
Redelivery = Literal["rerun", "incident"]
Wait = Literal["track", "block"]
Reevaluate = Literal["decisions", "always"]
FieldType = Literal["string", "integer", "decimal", "boolean", "date", "timestamp", "uuid", "json", "enum"]

CRUD = "crud::execute"
INSTANT_COMPLETE = "mock::instant_complete"
PARK = "mock::park"
START_PROCESS = "bpmn::start_process"
CALENDAR = "calendar::due"
BUILT_IN_HANDLERS: frozenset[str] = frozenset({CRUD, INSTANT_COMPLETE, PARK, START_PROCESS, CALENDAR})

DEFAULT_MAX_BYTES = 65536
DEFAULT_CORRELATION_KEY = "$step_id"
MAX_INDEX = 8


class Execution(msgspec.Struct, frozen=True):
    """How a verb is carried out. A durable verb without a handler only waits; without a process it waits once."""

    kind: ExecutionKind = "sync"
    handler: str | None = None
    params: dict[str, Any] = {}
    effects: Effects = "external"
    redelivery: Redelivery = "rerun"
    retry: RetryPolicy = RetryPolicy()
    process: str | None = None
    correlation_key: str = DEFAULT_CORRELATION_KEY
    payload_in: dict[str, str] = {}
    payload_out: tuple[str, ...] = ()
    payload_merge: dict[str, FlagMerge] = {}
    """How values that concurrent branches write to one path become one, by JSON pointer."""
    max_bytes: int = DEFAULT_MAX_BYTES
    sub_verbs: tuple[str, ...] = ()
    flags: tuple[FlagContract, ...] = ()
    compensation: dict[str, str] = {}
    compensate: str | None = None
    wait: Wait = "track"
    timeout_seconds: float | None = None
    timeout_text: str = ""
    """How long it waits where that is counted in business days: `5 business days in london`."""
    escalation: str | None = None
    alternatives: tuple[str, ...] = ()
    """Verbs that could be tried in its place when it fails; a decision about the failure is told of them."""
    decision: bool = False
    """It is told how far its runbook has come and may change what is still to run."""
    reevaluate: Reevaluate = "decisions"
    """Of a decision: `always` asks it again whenever a wait of its runbook has ended."""
    is_shared: bool = False
    """One completion ends every wait under the same key (`correlation: {fanout: true}`)."""
    task: TaskContract | None = None
    """For whom the wait of a durable verb is a task, where it is one."""
    agent: AgentContract | None = None
    """What its handler may use and do, where that is an agent."""

    unreachable: UnreachablePolicy | None = None
    """What becomes of a step whose engine cannot be reached; without it, it waits as long as the step may."""

    @property
    def has_timeout(self) -> bool:
        """Whether what waits for it waits so long at the most."""
        return self.timeout_seconds is not None or bool(self.timeout_text)

    states_retry: bool = False
    """The definition writes how often to try, even where that equals the default."""

    @property
    def own_retry(self) -> RetryPolicy | None:
        """The policy that the definition itself writes; None when it writes none."""
        return self.retry if self.states_retry or self.retry != RetryPolicy() else None


class Sentences(msgspec.Struct, frozen=True):
    """Templates with `{argument}` placeholders; `clarify` holds one question per argument."""

    step: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    clarify: dict[str, str] = {}


class VerbContract(msgspec.Struct, frozen=True):
    """What a sync verb tells the processes it serves: the flags it may write and the business errors it may raise."""

    writes_flags: tuple[str, ...] = ()
    may_raise: tuple[str, ...] = ()


class VerbDefinition(msgspec.Struct, frozen=True):
    """Everything declared about one version of one verb; both schemas are complete JSON Schema 2020-12."""

    name: str
    version: int = 1
    domain: str = ""
    description: str = ""
    sentences: Sentences = Sentences()
    search_phrases: tuple[str, ...] = ()
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    consequence: ConsequenceTier = "reviewable"
    execution: Execution = Execution()
    index: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    override: str | None = None
    contract: VerbContract | None = None
    """None when nothing was promised: it may then write and raise whatever its process allows."""
    writes: tuple[str, ...] = ()
    """Entities it changes, `entity/key` with `{argument}` placeholders: one step at a time changes each."""
    file: str = ""
    line: int = 0

    @property
    def content_hash(self) -> str:
        """`sha256:` of the whole definition, policies and bindings included; where it was written is not part of it."""
        return data_hash(self.content)

    @property
    def content(self) -> dict[str, Any]:
        """What is hashed, as JSON."""
        whole: dict[str, Any] = msgspec.to_builtins(self)
        del whole["file"], whole["line"]
        if self.contract is None:
            # What is not written leaves the hash as it was before it could be written.
            del whole["contract"]
        if not self.writes:
            del whole["writes"]
        whole["execution"]["flags"] = [flag_content(flag) for flag in whole["execution"]["flags"]]
        for name in ("decision", "is_shared", "task", "agent", "payload_merge", "alternatives", "unreachable"):
            if not whole["execution"][name]:
                del whole["execution"][name]
        if not self.execution.timeout_text:
            del whole["execution"]["timeout_text"]
        if self.execution.reevaluate == "decisions":
            del whole["execution"]["reevaluate"]
        if not self.execution.states_retry or self.execution.retry != RetryPolicy():
            del whole["execution"]["states_retry"]  # a policy that differs from the default speaks for itself
        return whole


class EntityField(msgspec.Struct, frozen=True):
    """One field of an entity; `values` lists what an enum may hold."""

    name: str
    type: FieldType
    required: bool = False
    values: tuple[str, ...] = ()


class EntityDefinition(msgspec.Struct, frozen=True):
    """A kind of record that CRUD verbs work on, identified by the fields named in `key`."""

    name: str
    fields: dict[str, EntityField]
    key: tuple[str, ...]
    description: str = ""
    file: str = ""
    line: int = 0


def same_verb_name(name: str) -> str:
    """The key under which the hyphen and underscore spellings of a verb name meet."""
    return name.replace("_", "-")
