"""Spans as tests look at them: gathered from several processes, by name, with their parents."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from perdure.telemetry import Spans


class Gathered:
    """One exporter for each process that traces, and all their spans together."""

    def __init__(self) -> None:
        self._exporters: list[InMemorySpanExporter] = []

    def spans(self) -> Spans:
        """For one more process: its own memory of what it has emitted."""
        return Spans(SimpleSpanProcessor(self.exporter()))

    def exporter(self) -> InMemorySpanExporter:
        self._exporters.append(InMemorySpanExporter())
        return self._exporters[-1]

    @property
    def all(self) -> list[ReadableSpan]:
        return [span for exporter in self._exporters for span in exporter.get_finished_spans()]

    @property
    def names(self) -> list[str]:
        return sorted(span.name for span in self.all)

    def one(self, name: str) -> ReadableSpan:
        found = [span for span in self.all if span.name == name]
        assert len(found) == 1, f"{name}: {len(found)} of {self.names}"
        return found[0]

    def parent(self, name: str) -> str:
        """The name of the span above one; empty for a root, `?` for one that was never emitted."""
        above = self.one(name).parent
        if above is None:
            return ""
        return next((span.name for span in self.all if id_of(span) == above.span_id), "?")

    def check(self) -> None:
        """One trace, no span twice, every parent there, and nothing ends before it begins."""
        assert len({span.context.trace_id for span in self.all}) == 1, self.names
        ids = [id_of(span) for span in self.all]
        assert len(ids) == len(set(ids)), self.names
        for span in self.all:
            assert span.start_time is not None and span.end_time is not None and span.start_time <= span.end_time
            if span.parent is not None and not span.parent.is_remote:
                assert span.parent.span_id in ids, f"nothing is above {span.name}"


def id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    return span.context.span_id


def attribute(span: ReadableSpan, name: str) -> Any:
    return (span.attributes or {}).get(f"perdure.{name}")
