"""The story: a verb runs, another parks, its process is killed, the answer comes twice, nothing is lost or changed."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from perdure.demo.stage import BrokenPromise, Stage

KEY = "C-7/passport"
ASKING = '(kyc.request-document :case "C-7" :document "passport")'
RESULT = '{"accepted": true}'
LOOKS = 50


def tell(stage: Stage) -> None:
    """The whole story; raises BrokenPromise where it is not so."""
    begin(stage)
    call_at_once(stage)
    stage.begin_picture()
    id, processes = park(stage)
    kill(stage, id, processes)
    complete_twice(stage, id)
    stage.end_picture()
    verify(stage)
    tamper(stage)
    stage.say("\nNothing was lost, nothing happened twice, and nothing can be changed unnoticed.", "bold green")


def begin(stage: Stage) -> None:
    stage.step("A project: two verbs in YAML, their handlers in Python")
    stage.ask("init")
    stage.run("verbs", "list")


def call_at_once(stage: Stage) -> None:
    stage.step("A verb that answers at once")
    stage.run("call", '(kyc.check-name :name "Ana Lund")')


def park(stage: Stage) -> tuple[str, list[subprocess.Popen[str]]]:
    stage.step("A verb that waits for the world: it parks")
    worker = _worker(stage)
    caller = stage.start("call", ASKING, "--wait")
    found = _until_parked(stage)
    stage.run("parked")
    stage.promise(found["state"] == "parked", f"it waits under the key {KEY}, its caller waits with it")
    return found["id"], [worker, caller]


def kill(stage: Stage, id: str, processes: list[subprocess.Popen[str]]) -> None:
    stage.step("SIGKILL, in the middle of it all")
    for process in processes:
        process.kill()
        process.wait()
        stage.promise(process.returncode == -signal.SIGKILL, f"process {process.pid} is dead")
    before = stage.ask("status", id)
    stage.promise(before["state"] == "parked", "the call is still there, parked as it was")
    _worker(stage)


def complete_twice(stage: Stage, id: str) -> None:
    stage.step("The answer arrives, and arrives again")
    stage.run("complete", KEY, "--result", RESULT, "--id", "mail-4711")
    second = stage.ask("complete", KEY, "--result", RESULT, "--id", "mail-4711")
    stage.promise(second["answer"] == "duplicate", "the second delivery is recognised and changes nothing")
    counts = Counter(event["entry"] for event in stage.ask("events", id))
    stage.run("events", id)
    stage.promise(counts["StepCompleted"] == 1, "the journal has it once: the verb finished once")
    result = stage.ask("status", id)["result"]
    stage.promise(result == json.loads(RESULT), "and its result is the one that was sent")


def verify(stage: Stage) -> None:
    stage.step("Everything is checked: rows, chains of records, payloads, seals")
    stage.run("audit", "seal")
    stage.run("audit", "verify")


def tamper(stage: Stage) -> None:
    stage.step("One byte is changed, in a copy of the database file")
    copy = stage.folder / "copy.db"
    stage.run("db", "backup", copy.name)
    place = flip(copy, b'{"case":"C-7"')
    stage.say(f"  byte {place} of {copy.name}: '7' becomes '8', no SQL involved")
    key = stage.folder / "perdure.db.seal.key.pub"
    told = stage.run("audit", "verify", "--store", f"sqlite:///{copy.name}", "--key", key.name, exit_code=9)
    stage.promise("payload of call" in told, "the change is found, and its place is named")
    stage.promise(stage.ask("audit", "verify")["ok"], "the original is whole")


def flip(file: Path, payload: bytes) -> int:
    """Change one byte of a payload in a file; returns where."""
    data = bytearray(file.read_bytes())
    start = data.find(payload)
    if start < 0:
        raise BrokenPromise(f"the payload was not found in {file.name}")
    place = start + payload.index(b"7")
    data[place] = ord("8")
    file.write_bytes(data)
    return place


def _worker(stage: Stage) -> subprocess.Popen[str]:
    worker = stage.start("worker", "--json")
    assert worker.stdout is not None
    line = worker.stdout.readline()
    ready: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
    stage.promise(ready.get("pid") == worker.pid, f"a worker is ready, process {worker.pid}")
    return worker


def _until_parked(stage: Stage) -> dict[str, Any]:
    for _ in range(LOOKS):
        found: list[dict[str, Any]] = stage.ask("parked")
        if found:
            return found[0]
    raise BrokenPromise("the call did not park")
