"""The section `telemetry` of a project's configuration."""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from perdure.app.configuration.project import load_config
from perdure.app.perdure import Perdure
from perdure.errors import DefinitionError, StoreSettingError
from perdure.telemetry import TelemetrySettings, TraceSettings, open_spans
from tests.runbooks.sample_verbs import Handlers, catalogue
from tests.telemetry.span_collection import Gathered

ADDRESS = "http://localhost:4318/v1/traces"


def settings(folder: Path, text: str) -> TelemetrySettings:
    path = folder / "perdure.yaml"
    path.write_text(f"store: sqlite://\n{text}", "utf-8")
    return load_config(path).telemetry


def test_without_the_section_everything_is_off(tmp_path: Path) -> None:
    assert settings(tmp_path, "") == TelemetrySettings(metrics=False, traces=None, logs="")


def test_the_whole_section_is_read(tmp_path: Path) -> None:
    text = (
        "telemetry:\n  metrics: true\n  metrics_bind: 127.0.0.1:9464\n  logs: json\n  traces:\n"
        f"    {{endpoint: {ADDRESS}, headers_env: OTLP, service_name: bank, sample: 0.25}}\n"
    )
    assert settings(tmp_path, text) == TelemetrySettings(
        True, "127.0.0.1:9464", TraceSettings(ADDRESS, "OTLP", "bank", 0.25), "json"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("telemetry: {trace: {}}", "traces"),
        ("telemetry: {logs: xml}", "json"),
        ("telemetry: {traces: {endpoint: localhost:4318}}", "http address"),
        ("telemetry: {traces: {sample: 1}}", "endpoint"),
        (f"telemetry: {{traces: {{endpoint: '{ADDRESS}', sample: 2}}}}", "from 0 to 1"),
        (f"telemetry: {{traces: {{endpoint: '{ADDRESS}', headers: secret}}}}", "headers_env"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        settings(tmp_path, text)
    assert said in str(refused.value) and "perdure.yaml:2" in str(refused.value)


def test_headers_come_from_the_environment_and_nowhere_else() -> None:
    found = TraceSettings(ADDRESS, "OTLP").headers({"OTLP": "authorization=Basic abc==, x-team = kyc,broken"})
    assert found == {"authorization": "Basic abc==", "x-team": "kyc"}
    assert TraceSettings(ADDRESS).headers({"OTLP": "a=b"}) == {}


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(StoreSettingError, match="perdure\\[telemetry\\]"):
        open_spans(TraceSettings(ADDRESS))


class Collector(BaseHTTPRequestHandler):
    """Keeps what is sent to it."""

    received: ClassVar[list[tuple[str, str | None, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((self.path, self.headers["authorization"], body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.mark.req("X22")
async def test_spans_are_sent_by_otlp_over_http_before_the_process_stops(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTLP", "authorization=Basic abc")
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}/v1/traces"
            told = TelemetrySettings(traces=TraceSettings(address, "OTLP", "bank"))
            async with Perdure.open(
                sqlite_url, definitions=catalogue(), handlers=Handlers().bound(), telemetry=told
            ) as perdure:
                await perdure.call("kyc.score", {"entity": "Allianz"})
        finally:
            server.shutdown()
            thread.join()
    [(path, authorization, body)] = Collector.received
    assert (path, authorization) == ("/v1/traces", "Basic abc")
    [sent] = ExportTraceServiceRequest.FromString(body).resource_spans
    assert "bank" in {attribute.value.string_value for attribute in sent.resource.attributes}
    assert sorted(span.name for span in sent.scope_spans[0].spans) == ["attempt kyc.score", "runbook kyc.score"]


async def test_a_process_that_only_looks_measures_and_traces_nothing(sqlite_url: str) -> None:
    told = TelemetrySettings(metrics=True, traces=TraceSettings(ADDRESS))
    async with Perdure.open(sqlite_url):
        pass
    async with Perdure.open(sqlite_url, role="reader", telemetry=told, span_exporter=Gathered().exporter()) as perdure:
        assert perdure.runtime._observer is None
