"""The generic workflow: it hosts one instance, gives its jobs out as activities and waits for its timers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey
from temporalio.exceptions import ApplicationError

from perdure.engines.temporal.hosted_instance import HostedInstance
from perdure.engines.temporal.wire import (
    DECIDE,
    JOBS_ACTIVITY,
    STATUS,
    TELL_ACTIVITY,
    WORKFLOW,
    Dispatch,
    JobsAsked,
    Reply,
    Telling,
    encode,
    read_begun,
    read_dispatch,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_EVENTS = 4_000
"""The length of a history after which a run is continued as a new one; updates of a run are bounded by 2,000."""
MAX_BYTES = 4_000_000
UNANSWERED = "perdure.reply"
"""The type of the error that carries a reply which changed nothing: Temporal keeps no event of such an update."""
FOR_EVER = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=20))
TELL_SECONDS = timedelta(seconds=60)
SILENT_SECONDS = timedelta(seconds=10)
"""A worker that has said nothing for so long is gone: another one gets its activity."""
STATUS_ATTRIBUTE = SearchAttributeKey.for_keyword("PerdureStatus")
WAITS_ATTRIBUTE = SearchAttributeKey.for_keyword_list("PerdureWaits")
MAX_WAITS = 20
MARK = "perdure-wake"
MAX_JOBS = 50
"""Jobs that one worker takes by one activity."""


def now() -> int:
    return (workflow.now() - EPOCH) // timedelta(microseconds=1)


@workflow.defn(name=WORKFLOW)
class InstanceWorkflow:
    """One instance, from its start to its end."""

    @workflow.init
    def __init__(self, begun: bytes) -> None:
        self._begun = read_begun(begun)
        self._hosted = HostedInstance(self._begun)
        self._jobs: list[asyncio.Task[None]] = []
        self._given: dict[int, None] = {}
        self._timer: asyncio.Task[None] | None = None
        self._timer_due = 0
        self._telling: asyncio.Task[None] | None = None
        self._decisions = 0
        self._marks = 0
        self._is_woken = True
        self._is_urgent = False
        self._shown: tuple[str, tuple[str, ...]] = ("", ())

    @workflow.run
    async def run(self, begun: bytes) -> None:
        while True:
            await workflow.wait_condition(lambda: self._is_woken)
            self._is_woken = False
            self._fire_due()
            self._give_jobs()
            self._plan_timer()
            self._plan_telling()
            self._show()
            if self._hosted.is_over and not self._hosted.outbox:
                await workflow.wait_condition(workflow.all_handlers_finished)
                self._end_timers()
                return
            if self._is_grown() and workflow.all_handlers_finished():
                self._end_timers()
                workflow.continue_as_new(encode(self._hosted.carried()))

    # --- commands ------------------------------------------------------------------------------------------------

    @workflow.update(name=DECIDE)
    async def decide(self, body: bytes) -> bytes:
        return encode(self._decided(read_dispatch(body)))

    def _decided(self, dispatch: Dispatch) -> Reply:
        reply = self._hosted.decide(dispatch, now(), workflow.random().random())
        if reply.outcome == "decided":
            self._decisions += 1
            self._is_urgent = self._is_urgent or self._hosted.is_over
            self._is_woken = True
        return reply

    @decide.validator
    def check(self, body: bytes) -> None:
        """Refuse a dispatch that changes nothing; the error carries the reply."""
        reply = self._hosted.refusal(read_dispatch(body), now())
        if reply is not None:
            raise ApplicationError(reply.outcome, encode(reply), type=UNANSWERED, non_retryable=True)

    @workflow.query(name=STATUS)
    def status(self) -> bytes:
        """The version and the number of decisions that our journal is not known to have."""
        return encode((self._hosted.version, len(self._hosted.outbox), self._begun.runs))

    # --- timers --------------------------------------------------------------------------------------------------

    def _fire_due(self) -> None:
        while (timer := self._hosted.next_timer()) is not None and timer.due <= now():
            if self._hosted.fire(timer, now(), workflow.random().random()):
                self._decisions += 1
                self._is_urgent = True

    def _plan_timer(self) -> None:
        timer = self._hosted.next_timer()
        due = timer.due if timer is not None else 0
        if due == self._timer_due and (self._timer is None or not self._timer.done()):
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timer_due = due
        if due:
            self._timer = asyncio.create_task(self._wake_at(due))

    async def _wake_at(self, due: int) -> None:
        left = due - now()
        if left > 0:
            # The server counts milliseconds: a little later is right, a little earlier would be asked again.
            await workflow.sleep(timedelta(milliseconds=-(-left // 1000)), summary="next timer")
        self._timer_due = 0
        self._mark()

    def _mark(self) -> None:
        """Wake up by a command of its own.

        A replay joins workflow tasks that gave no command, and brings updates before whatever else happened in them:
        an update could come before the activity or the timer that it came after.
        """
        self._marks += 1
        workflow.upsert_memo({MARK: self._marks})
        self._is_woken = True

    def _end_timers(self) -> None:
        for task in (self._timer, self._telling):
            if task is not None:
                task.cancel()

    # --- jobs ----------------------------------------------------------------------------------------------------

    def _give_jobs(self) -> None:
        nodes = [row.step for row in self._hosted.ready_jobs() if row.step not in self._given]
        for first in range(0, len(nodes), MAX_JOBS):
            batch = tuple(nodes[first : first + MAX_JOBS])
            self._given.update(dict.fromkeys(batch))
            self._jobs.append(asyncio.create_task(self._jobs_taken(batch)))

    async def _jobs_taken(self, nodes: tuple[int, ...]) -> None:
        """Let a worker take jobs, in their order; what becomes of each comes as a command."""
        asked = JobsAsked(self._begun.tenant, self._begun.instance, nodes, tuple(self._hosted.outbox))
        try:
            version = await workflow.execute_activity(
                JOBS_ACTIVITY, encode(asked), result_type=int, start_to_close_timeout=TELL_SECONDS,
                heartbeat_timeout=SILENT_SECONDS, retry_policy=FOR_EVER,
                summary=", ".join(map(self._name, nodes))[:200],
            )  # fmt: skip
            self._hosted.acknowledge(version)
        finally:
            for node in nodes:
                self._given.pop(node, None)
            self._jobs = [each for each in self._jobs if not each.done()]
            self._mark()

    def _name(self, node: int) -> str:
        state = self._hosted.state
        return state.nodes[node].element if state is not None and node in state.nodes else str(node)

    # --- our journal ---------------------------------------------------------------------------------------------

    def _plan_telling(self) -> None:
        if self._hosted.outbox and (self._telling is None or self._telling.done()):
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        """Bring our journal what it lacks: at once what nobody asked for, else after whoever asked had time to."""
        seconds = timedelta(seconds=self._begun.grace_seconds)
        if not self._is_urgent:
            try:
                await workflow.wait_condition(lambda: self._is_urgent or not self._hosted.outbox, timeout=seconds)
            except TimeoutError:
                self._is_urgent = True
        while self._hosted.outbox and self._is_urgent:
            told = Telling(self._begun.tenant, self._begun.instance, tuple(self._hosted.outbox))
            version = await workflow.execute_activity(
                TELL_ACTIVITY, encode(told), result_type=int, start_to_close_timeout=TELL_SECONDS,
                heartbeat_timeout=SILENT_SECONDS, retry_policy=FOR_EVER,
            )  # fmt: skip
            self._hosted.acknowledge(version)
            self._mark()
        self._is_urgent = False
        self._mark()

    # --- growth and search -----------------------------------------------------------------------------------------

    def _is_grown(self) -> bool:
        info = workflow.info()
        return (
            info.is_continue_as_new_suggested()
            or info.get_current_history_length() > MAX_EVENTS
            or info.get_current_history_size() > MAX_BYTES
            or self._decisions > self._begun.max_decisions
        )

    def _show(self) -> None:
        """Search attributes, where the server has them."""
        state = self._hosted.state
        if not self._begun.has_attributes or state is None:
            return
        names = [] if self._begun.is_encrypted else [f"{row.kind}:{row.name}"[:200] for row in self._hosted.rows.parked]
        shown = (state.status, tuple(dict.fromkeys(names))[:MAX_WAITS])
        if shown != self._shown:
            self._shown = shown
            workflow.upsert_search_attributes(
                [STATUS_ATTRIBUTE.value_set(shown[0]), WAITS_ATTRIBUTE.value_set(list(shown[1]))]
            )
