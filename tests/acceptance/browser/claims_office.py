"""The small office of claims that pages are tried on: what is filed there, and what happens to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.acceptance.browser.server import Server

CLAIMS = Path(__file__).resolve().parent / "claims"
MODEL = CLAIMS / "models" / "approve-claim.bpmn"


def call(server: Server, verb: str, **args: Any) -> dict[str, Any]:
    """Ask for a verb; what came of it so far."""
    made: dict[str, Any] = server.post(f"/verbs/{verb}/calls", {"args": args})
    return made


def filed(server: Server, claim: str, amount: int = 3) -> str:
    """File a claim; the instance, once it waits for a person. One that begins with BROKEN gets stuck."""
    body = {
        "process": "approve-claim",
        "version": 1,
        "data": {"claim": claim, "amount": amount},
        "business_key": claim,
        "until": "rest",
    }
    instance: str = server.post("/instances", body)["id"]
    return instance


def task_of(server: Server, instance: str) -> str:
    """The key of the task that an instance waits with."""
    found = server.get("/tasks", limit=200)["items"]
    key: str = next(each["key"] for each in found if each["instance"] == instance)
    return key


def answer(server: Server, instance: str, decision: str = "yes") -> None:
    """Decide a claim by another door than the page."""
    server.post(
        f"/tasks/{task_of(server, instance)}/complete", {"data": {"decision": decision, "paid_on": "2026-05-04"}}
    )


def mend(server: Server) -> None:
    """From now on claims that begin with BROKEN can be rated."""
    (server.folder / "mended").touch()


def second_version(server: Server) -> int:
    """The same process with another name for its task, deployed."""
    return named_version(server, "Approve the claim again")


def third_version(server: Server) -> int:
    """And with yet another one."""
    return named_version(server, "Approve the claim once more")


def unrated_version(server: Server) -> int:
    """The same process where somebody is reminded instead of the claim being rated."""
    return changed_version(server, {"claim.rate": "claim.remind", "=orch_group": "seniors"})


def named_version(server: Server, name: str) -> int:
    return changed_version(server, {"Approve the claim": name})


def changed_version(server: Server, changes: dict[str, str]) -> int:
    xml = MODEL.read_text(encoding="utf-8")
    for old, new in changes.items():
        xml = xml.replace(old, new)
    deployed: int = server.post("/processes", {"xml": xml})["deployments"][0]["version"]
    return deployed
