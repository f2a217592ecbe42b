"""A server under load from outside: callers that ask again, and a reader of the feed that comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.browser.server import Server

CONFIG = "definitions: [definitions]\nhandlers: [counter]\nserver: {rate: {per_second: 100000, burst: 100000}}\n"
VERBS = """
- name: count.one
  description: Count one
  input_schema: {required: [number], properties: {number: {type: integer}}}
  output_schema: {required: [number], properties: {number: {type: integer}}}
  index: [number]
  execution: {kind: sync, effects: external}
- name: count.wait
  description: Wait to be told
  input_schema: {properties: {number: {type: integer}}}
  output_schema: {properties: {ok: {type: boolean}}}
  execution: {kind: durable, correlation: {key: "wait-$number"}}
"""
HANDLERS = '''
"""Counts."""

from perdure import verb


@verb("count.one")
async def one(call):
    return {"number": call.args["number"]}
'''
RETRIABLE = (429, 502, 503, 504)
PAUSE_SECONDS = 0.02
"""Before somebody asks again: whoever starts meanwhile needs the processor more."""


def counting(folder: Path) -> Path:
    """A project that counts."""
    (folder / "definitions").mkdir(parents=True)
    (folder / "counter").mkdir()
    (folder / "perdure.yaml").write_text(CONFIG)
    (folder / "definitions" / "verbs.yaml").write_text(VERBS)
    (folder / "counter" / "__init__.py").write_text(HANDLERS)
    return folder


class Callers:
    """Threads that ask for numbers until each is answered; `bad` keeps what they should not have seen."""

    def __init__(self, server: Server, count: int, threads: int = 6) -> None:
        self._server = server
        self._left = list(range(count))
        self._lock = threading.Lock()
        self.answered: dict[int, str] = {}
        self.bad: list[str] = []
        self._some = threading.Condition(self._lock)
        self._pause = threading.Event()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for each in self._threads:
            each.start()

    def wait_for(self, count: int, seconds: float = 240) -> None:
        """Until so many are answered."""
        with self._some:
            done = self._some.wait_for(lambda: len(self.answered) >= count or bool(self.bad), seconds)
        assert not self.bad, self.bad[:3]
        assert done, f"only {len(self.answered)} of {count} were answered"

    def join(self) -> None:
        for each in self._threads:
            each.join(timeout=240)
        assert not self.bad, self.bad[:3]

    def _work(self) -> None:
        with httpx.Client(base_url=self._server.url, timeout=60) as client:
            while True:
                with self._lock:
                    if not self._left or self.bad:
                        return
                    number = self._left.pop()
                self._ask(client, number)

    def _ask(self, client: httpx.Client, number: int) -> None:
        body = {"args": {"number": number}, "wait": True, "timeout_seconds": 30}
        while True:
            try:
                response = client.post(
                    "/api/verbs/count.one/calls", json=body, headers={"Idempotency-Key": f"n-{number}"}
                )
            except httpx.TransportError:
                self._pause.wait(PAUSE_SECONDS)
                continue  # nobody is there, or went away in the middle: ask again under the same key
            if response.status_code in RETRIABLE:
                self._pause.wait(PAUSE_SECONDS)
                continue
            told = response.json()
            with self._some:
                if response.status_code != 201:
                    self.bad.append(f"{response.status_code}: {told}")
                elif told["state"] == "completed":
                    self.answered[number] = told["id"]
                else:
                    continue  # it goes on elsewhere; ask again until it has ended
                self._some.notify_all()
            return


class FeedReader:
    """Reads the feed in a thread, going on from its last cursor whenever the stream ends."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.cursor = self._end()
        self.seen: list[tuple[str, int, str]] = []
        self.breaks = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _end(self) -> str:
        """The cursor of what happened last; something has."""
        after = ""
        while True:
            query = {"limit": "200", **({"after": after} if after else {})}
            answer = self._server.api.get("/api/events", params=query, headers={"Accept": "application/json"})
            page = answer.json()
            if not page["items"]:
                return after
            after = page["next"]

    def wait_for(self, is_enough: Callable[[list[tuple[str, int, str]]], bool]) -> None:
        for _ in range(6000):
            if is_enough(list(self.seen)):
                break
            self._is_over.wait(0.05)
        assert is_enough(list(self.seen)), f"the reader saw {len(self.seen)} items"
        self._is_over.set()

    def _read(self) -> None:
        while not self._is_over.is_set():
            try:
                with httpx.Client(base_url=self._server.url, timeout=httpx.Timeout(30, read=30)) as client:
                    self._stream(client)
            except (httpx.TransportError, httpx.HTTPStatusError):
                self.breaks += 1
                self._is_over.wait(PAUSE_SECONDS)

    def _stream(self, client: httpx.Client) -> None:
        headers = {"Accept": "text/event-stream", "Last-Event-ID": self.cursor}
        with client.stream("GET", "/api/events", headers=headers) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                if line.startswith("data: "):
                    self._take(json.loads(line.removeprefix("data: ")))
                if self._is_over.is_set():
                    return

    def _take(self, item: dict[str, Any]) -> None:
        self.cursor = item["cursor"]
        self.seen.append((item["id"], item["sequence"], item["entry"]))
