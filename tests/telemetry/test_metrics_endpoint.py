"""A worker's own `/metrics`: one path, on this machine alone."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from perdure.errors import StoreSettingError
from perdure.telemetry.metrics_endpoint import listening


async def scrape() -> bytes:
    return b"a_total 1.0\n"


@pytest.mark.req("X21")
@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/metrics", 200, "a_total 1.0\n"),
        ("GET", "/metrics?name=x", 200, "a_total 1.0\n"),
        ("HEAD", "/metrics", 200, ""),
        ("POST", "/metrics", 405, "Metrics can only be read.\n"),
        ("GET", "/", 404, "There is only /metrics here.\n"),
    ],
)
async def test_only_metrics_are_answered_and_only_read(method: str, path: str, status: int, body: str) -> None:
    async with listening("127.0.0.1:0", scrape) as port, httpx.AsyncClient(trust_env=False) as client:
        answer = await client.request(method, f"http://127.0.0.1:{port}{path}")
    assert (answer.status_code, answer.text) == (status, body)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")


async def test_a_request_that_never_ends_or_is_too_long_is_dropped() -> None:
    async with listening("127.0.0.1:0", scrape) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /" + b"x" * 100_000)
        assert b"200" not in await _rest(reader)
        writer.close()


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


@pytest.mark.parametrize("bind", ["0.0.0.0:9464", "10.1.2.3:9464", "example.org:80", "127.0.0.1", "127.0.0.1:x", ":1"])
async def test_an_address_others_could_reach_is_refused(bind: str) -> None:
    with pytest.raises(StoreSettingError, match="loopback"):
        async with listening(bind, scrape):
            pass


@pytest.mark.req("X21")
def test_a_worker_answers_scrapes_where_its_project_says(tmp_path: Path) -> None:
    port = _free_port()
    (tmp_path / "perdure.yaml").write_text(f"telemetry: {{metrics_bind: '127.0.0.1:{port}'}}\n", "utf-8")
    worker = subprocess.Popen(
        [sys.executable, "-m", "perdure", "worker", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert worker.stdout is not None and "ready" in worker.stdout.readline()
        with httpx.Client(trust_env=False) as client:
            text = client.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
    assert "perdure_leases_live 1.0" in text
    assert worker.returncode == 0


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
