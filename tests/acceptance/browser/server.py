"""A real server for browser tests: a process of its own that can be stopped, killed and brought back."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.acceptance.forking import run_command
from tests.house.tree import ROOT

KYC = ROOT / "examples" / "kyc"
DESK = Path(__file__).resolve().parent / "desk"
READY = re.compile(r"ready: (http://\S+)")
COMMAND_SECONDS = 120.0
LEFT_BEHIND = shutil.ignore_patterns(".perdure", "*.db*", "__pycache__", "*.seal.key*")


class Server:
    """`perdure serve` over a copy of a project. `api` asks it; `stop`, `kill` and `start` are what operators do."""

    def __init__(self, project: Path, folder: Path, store: str, settings: str = "") -> None:
        shutil.copytree(project, folder, ignore=LEFT_BEHIND)
        self.folder = folder
        self.store = store
        config = folder / "perdure.yaml"
        config.write_text(config.read_text(encoding="utf-8") + settings, encoding="utf-8")
        self.port = 0
        self._keys: dict[tuple[str, ...], str] = {}
        self.told: deque[str] = deque(maxlen=200)
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self.start()
        self.api = httpx.Client(base_url=self.url, timeout=60)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin to serve, under the port there was before."""
        assert self._process is None
        command = [sys.executable, "-m", "perdure", "serve", "--port", str(self.port), "--store", self.store]
        self._process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "400"},
        )  # fmt: skip
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.told.append(line)
            if found := READY.search(line):
                self.port = int(found.group(1).rpartition(":")[2])
                break
        else:
            code = self._process.wait()
            raise AssertionError(f"the server ended with {code}:\n{''.join(self.told)}")
        self._reader = threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _listen(self, stream: Any) -> None:
        for line in stream:
            self.told.append(line)

    def stop(self) -> None:
        """End as operators end it: what has begun ends first."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End without a word."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        process.wait(timeout=60)
        assert self._reader is not None
        self._reader.join(timeout=10)
        assert process.stdout is not None
        process.stdout.close()

    def close(self) -> None:
        self.api.close()
        self.stop()

    def run(self, *words: str) -> str:
        """A command of the same project on the same store; what it printed."""
        command = ["perdure", *words, "--store", self.store]
        done = run_command(command, self.folder, os.environ, "", COMMAND_SECONDS)
        assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    # --- what tests prepare --------------------------------------------------------------------------------------

    def get(self, path: str, **query: Any) -> Any:
        return self._answer(self.api.get(f"/api{path}", params=query))

    def post(self, path: str, body: Any = None) -> Any:
        return self._answer(self.api.post(f"/api{path}", json=body if body is not None else {}))

    def _answer(self, response: httpx.Response) -> Any:
        assert response.is_success, f"{response.request.url}: {response.status_code} {response.text[:2000]}"
        return response.json() if response.content else None

    def put(self, path: str, body: Any) -> Any:
        return self._answer(self.api.put(f"/api{path}", json=body))

    def make_key(self, principal: str, *words: str) -> str:
        """The text of a key of a person, made once: the first word is a role, the others are groups."""
        if text := self._keys.get((principal, *words)):
            return text
        role, *groups = words
        named = [part for group in groups for part in ("--group", group)]
        told = self.run(
            "--json", "keys", "create", principal, "--principal", principal, "--kind", "person", "--role", role, *named
        )
        made: str = msgspec.json.decode(told)["text"]
        self._keys[principal, *words] = made
        return made

    def sign_in(self, key: str) -> None:
        """From now on `api` asks with this key."""
        self.api.headers["Authorization"] = f"Bearer {key}"

    def run_as(self, principal: str, program: str) -> str:
        """The id of a runbook that somebody else started, from a terminal."""
        file = self.folder / "asked.runbook"
        file.write_text(program, encoding="utf-8")
        told = self.run("--json", "run", str(file), "--as", principal)
        id: str = msgspec.json.decode(told)["id"]
        return id

    def run_program(self, program: str, case: str = "", **variables: Any) -> dict[str, Any]:
        """Start a runbook; a plan that has to be confirmed is confirmed."""
        plan = self.post("/runbooks/plan", {"program": program, "variables": variables})
        body = {"program": program, "variables": variables, "case": case, "confirm": plan["plan_hash"]}
        started: dict[str, Any] = self.post("/runbooks", body)
        return started

    def onboard(self, case: str, case_id: str) -> dict[str, Any]:
        """The corporate onboarding of the example: it soon waits for the client's documents."""
        program = (self.folder / "runbooks" / "corporate-onboarding.runbook").read_text(encoding="utf-8")
        return self.run_program(
            program, case, entity_lei="DEMO00NORDLYSCAP0045", entity_id="NORDLYS NO", case_id=case_id,
            client_contact="ana@nordlys.example",
        )  # fmt: skip
