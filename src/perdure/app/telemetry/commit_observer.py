"""The observer: hears of commits once they are durable, and works off what it heard beside everything else."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

from perdure.app.telemetry.attempt_context import AttemptContext
from perdure.app.telemetry.entry_metrics import EntryMetrics
from perdure.app.telemetry.gauges import GaugeReader
from perdure.app.telemetry.observed_commit import ObservedCommit
from perdure.app.telemetry.span_emitter import SpanEmitter
from perdure.app.telemetry.span_parents import TracePositions
from perdure.errors import PerdureError, RejectedError
from perdure.journal import Machine
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.kernel.ports import Told, Verdict
from perdure.sources import Sources
from perdure.store.store import Store
from perdure.telemetry import Spans
from perdure.telemetry.metrics import Metrics
from perdure.verbs import Catalogue
from perdure.work.verb_router import Router

MAX_WAITING = 20_000
"""More commits than this are not kept for later: telemetry never holds up work, and says what it left out."""
TURN = 64

log = logging.getLogger("perdure")


class CommitObserver:
    """Made by the runtime when something is to be measured or traced; without it nothing is heard and nothing costs."""

    def __init__(
        self, kernel: Kernel, store: Store, machines: Mapping[str, Machine[Any, Any, Any]], catalogue: Catalogue,
        router: Router, sources: Sources,
    ) -> None:  # fmt: skip
        self._kernel = kernel
        self._store = store
        self._machines = machines
        self._catalogue = catalogue
        self._router = router
        self._sources = sources
        self._waiting: deque[ObservedCommit] = deque()
        self._working: asyncio.Task[None] | None = None
        self._heard = self._done = 0
        self._marks: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._measuring: EntryMetrics | None = None
        self._tracing: SpanEmitter | None = None
        self._reading = GaugeReader(store, kernel, sources)
        self._units = 0
        self._commits = 0
        self._listens = False

    # --- what is asked for ---------------------------------------------------------------------------------------

    def measure(self) -> Metrics:
        """Count from now on; asked again, the same metrics."""
        if self._measuring is None:
            self._measuring = EntryMetrics(Metrics(self._catalogue.names()), self._catalogue, self._kernel)
            self._listen()
            self._kernel.refused(self._on_refusal)
            self._store.watch = self._on_unit
        return self._measuring.metrics

    @property
    def metrics(self) -> Metrics | None:
        """Those that are counted; None as long as nobody asked to measure."""
        return self._measuring.metrics if self._measuring is not None else None

    def trace(self, spans: Spans, sample: float = 1.0) -> None:
        """Emit spans from now on."""
        self._listen()
        places = TracePositions(self._kernel, self._store, sample)
        self._tracing = SpanEmitter(spans, places, self._store, self._machines)
        self._router.around = AttemptContext(places, emits=True).around

    def correlate(self) -> None:
        """Say in the log lines of attempts what they belong to, also where no spans are emitted."""
        if self._tracing is None:
            places = TracePositions(self._kernel, self._store, 1.0)
            self._router.around = AttemptContext(places, emits=False).around

    async def scrape(self) -> bytes:
        """The text for `/metrics`, with gauges read from the store; a store out of reach leaves them as they were."""
        metrics = self.measure()
        await self._caught_up()
        try:
            metrics.read(await self._reading.read())
        except PerdureError as error:
            log.warning("gauges could not be read from the store and are as they were: %s", error)
        return metrics.render()

    def lease_lost(self) -> None:
        if self._measuring is not None:
            self._measuring.metrics.lease_lost()

    async def drain(self) -> None:
        """Until everything heard so far is worked off."""
        while self._working is not None and not self._working.done():
            await asyncio.gather(self._working, return_exceptions=True)

    async def _caught_up(self) -> None:
        """Until what was heard before is worked off, whatever is heard meanwhile: under load there is always more."""
        if self._heard > self._done:
            mark = asyncio.get_running_loop().create_future()
            self._marks.append((self._heard, mark))
            await mark

    async def close(self) -> None:
        await self.drain()
        if self._tracing is not None:
            await asyncio.to_thread(self._tracing.spans.close)

    def _listen(self) -> None:
        if not self._listens:
            self._listens = True
            self._kernel.listen(self._on_commit)

    # --- what is heard -------------------------------------------------------------------------------------------

    def _on_commit(self, aggregate: Aggregate, entries: tuple[Any, ...]) -> None:
        if not entries:
            return
        waiting = self._waiting
        if waiting and waiting[-1].aggregate is aggregate:
            waiting[-1].told.append(entries)
        elif len(waiting) >= MAX_WAITING:
            if self._measuring is not None:
                self._measuring.metrics.dropped()
        else:
            waiting.append(ObservedCommit(aggregate, self._sources.now(), [entries]))
            self._heard += 1
        if self._working is None or self._working.done():
            self._working = asyncio.ensure_future(self._work())

    async def _work(self) -> None:
        while self._waiting:
            seen = self._waiting.popleft()
            try:
                await self._observe(seen)
            except Exception:
                log.exception("a commit could not be measured or traced; the work itself is not affected")
            self._done += 1
            while self._marks and self._marks[0][0] <= self._done:
                mark = self._marks.popleft()[1]
                if not mark.done():
                    mark.set_result(None)
            if self._done % TURN == 0:
                await asyncio.sleep(0)

    async def _observe(self, seen: ObservedCommit) -> None:
        if self._measuring is not None:
            await self._measuring.measure(seen)
        if self._tracing is not None:
            await self._tracing.trace(seen)

    def _on_refusal(self, error: BaseException) -> None:
        if self._measuring is not None and isinstance(error, PerdureError):
            code = error.rejection.code if isinstance(error, RejectedError) else error.code
            self._measuring.metrics.refused(code)

    def _on_unit(self, told: Told) -> Told:
        loop = asyncio.get_running_loop()
        began = loop.time()

        def measured(verdict: Verdict) -> None:
            if verdict is None:
                self._on_durable(loop, began)
            told(verdict)

        return measured

    def _on_durable(self, loop: asyncio.AbstractEventLoop, began: float) -> None:
        assert self._measuring is not None
        self._measuring.metrics.commit_took(loop.time() - began)
        if not self._units:
            self._commits = self._store.driver.commits - 1 if not self._commits else self._commits
            loop.call_soon(self._on_batch)
        self._units += 1

    def _on_batch(self) -> None:
        """Units of one transaction are settled in one turn of the loop."""
        assert self._measuring is not None
        units, self._units = self._units, 0
        commits = self._store.driver.commits
        self._measuring.metrics.committed(units, max(1, commits - self._commits))
        self._commits = commits
