"""The scene of a case, from its first day to its approval: parked, killed, reminded, escalated, decided by a senior."""

from __future__ import annotations

import json
import signal
import subprocess
from itertools import pairwise
from typing import Any, NamedTuple

from perdure.demo.command_runner import BrokenPromise, Stage

LOOKS = 60
PASSPORT = json.dumps({"documents": [{"document": "passport", "reference": "document://passport-1"}]})
EARLY = json.dumps({"documents": [
    {"document": "certificate_of_incorporation", "reference": "document://certificate-1"},
    {"document": "shareholder_register", "reference": "document://register-1"},
]})  # fmt: skip
ONBOARDING_CASE = "7f3f0f6e-6c8e-4b51-9d6a-0b5a8f0f4e11"
SENIORS = "senior-compliance"


class Case(NamedTuple):
    """A call of kyc.open-case, or the runbook it is in, the instance that carries it, and the case's own id."""

    id: str
    instance: str
    number: str


def begin_worker(stage: Stage) -> subprocess.Popen[str]:
    """A worker on the day it is; the story waits until it is ready."""
    worker = stage.start("worker", "--json")
    assert worker.stdout is not None
    line = worker.stdout.readline()
    ready: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
    stage.promise(ready.get("pid") == worker.pid, f"a worker is ready, process {worker.pid}")
    return worker


def wake(stage: Stage, worker: subprocess.Popen[str], days: int, text: str) -> subprocess.Popen[str]:
    """The worker stops, days pass, another begins."""
    worker.terminate()
    worker.wait()
    stage.pass_days(days, text)
    return begin_worker(stage)


def standing(stage: Stage, instance: str, element: str) -> dict[str, Any]:
    """The instance, once a token stands there."""
    for _ in range(LOOKS):
        shown: dict[str, Any] = stage.ask("instances", "show", instance)
        if element in {token["element"] for token in shown["tokens"]}:
            return shown
    raise BrokenPromise(f"{instance} did not come to {element}")


def kill(stage: Stage, case: Case, worker: subprocess.Popen[str]) -> subprocess.Popen[str]:
    stage.step("SIGKILL, in the middle of it all")
    before = stage.ask("instances", "show", case.instance)
    worker.kill()
    worker.wait()
    stage.promise(worker.returncode == -signal.SIGKILL, f"process {worker.pid} is dead")
    again = begin_worker(stage)
    after = stage.ask("instances", "show", case.instance)
    stage.promise(after == before, "the case waits as it did: same tokens, same flags, same data, to the last letter")
    return again


def early_and_lost(stage: Stage, case: Case) -> None:
    stage.step("One message comes too early, one to nobody")
    early = ("documents_uploaded", ONBOARDING_CASE, "--ttl", "P30D", "--data", EARLY, "--id", "mail-1")
    told = stage.run("message", "publish", *early)
    stage.promise("nobody waits yet" in told, "for a client who is eager: what nobody asked for yet is kept")
    lost = f"{case.number[:-1]}x"
    wrong = ("docs_received", lost, "--data", PASSPORT, "--id", "mail-2")
    stage.run("message", "publish", *wrong, exit_code=1, is_quiet=True)
    stage.run("dead-letters", "list")
    letters = stage.ask("dead-letters", "list")
    stage.promise([each["key"] for each in letters] == [lost], "a wrong key wakes nobody, and is not lost either")


def days_pass(stage: Stage, case: Case, worker: subprocess.Popen[str]) -> subprocess.Popen[str]:
    stage.step("Time passes, while nobody is at work")
    worker = wake(stage, worker, 4, "the machine was off, a timer was due yesterday")
    for _ in range(LOOKS):
        record = stage.ask("call", "kyc.read-case", f"case_id={case.number}")["result"]
        if record["reminders"]:
            break
    stage.promise(record["reminders"] == 1, "the client was reminded, once")
    stage.run("message", "publish", "docs_received", case.number, "--data", PASSPORT, "--id", "mail-3", is_quiet=True)
    twice = stage.ask("message", "publish", "docs_received", case.number, "--data", PASSPORT, "--id", "mail-3")
    stage.promise("duplicate" in json.dumps(twice), "the documents arrive, and arrive again: counted once")
    standing(stage, case.instance, "review")
    stage.run("tasks", "list")
    worker = wake(stage, worker, 4, "the reviewer is on holiday")
    standing(stage, case.instance, "senior_review")
    stage.promise(True, "after three days without a decision the case went to a senior")
    return worker


def four_eyes(stage: Stage, case: Case) -> None:
    stage.step("Whoever asked cannot decide")
    (task,) = [task for task in stage.ask("tasks", "list") if task["instance"] == case.instance]
    approve = ("tasks", "complete", task["key"], "--data", '{"outcome": "approved", "reason": "all in order"}')
    stage.run(*approve, exit_code=7, groups=SENIORS)
    stage.promise(True, "ana opened the case: her own approval is refused")
    stage.run("tasks", "claim", task["key"], by="sam", groups=SENIORS)
    stage.run(*approve, by="sam", groups=SENIORS, is_quiet=True)


def approved(stage: Stage, case: Case) -> None:
    stage.step("Approved, and every step of the way on paper")
    stage.run("audit", "seal", is_quiet=True)
    stage.run("audit", "export", case.id, "-o", "case.json", is_quiet=True)
    document = json.loads((stage.folder / "case.json").read_text(encoding="utf-8"))
    trail = [each for each in document["trail"] if each["of"] == case.instance]
    for each in trail:
        into, out = each["hash_in"][7:15], each["hash_out"][7:15]
        stage.say(f"  {each['verb']:<28} {into} → {out}   {each['by']}", "")
    flags = next(each["flags"] for each in document["processes"] if each["id"] == case.instance)
    stage.promise(
        flags["orch_review_outcome"] == "approved", "the gateway read one flag, and the verb that wrote it is named"
    )
    is_unbroken = all(one["hash_out"] == next["hash_in"] for one, next in pairwise(trail))
    stage.promise(
        len(trail) == 8 and is_unbroken, "eight verbs did it: each took over exactly what the one before left"
    )
    stage.run("audit", "verify", "case.json", "--key", "perdure.db.seal.key.pub")
    stage.promise(True, "whoever gets the document can check it, without the store")
