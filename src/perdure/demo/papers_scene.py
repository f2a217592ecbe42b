"""The scene of a client's papers: asked for, rejected as blurred, asked again, verified, and asked for a year later."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from perdure.demo.case_scene import LOOKS, wake
from perdure.demo.command_runner import BrokenPromise, Stage

CLIENT = "nordlys"
OFFICER, GROUP = "rita", "compliance"
PAPERS = {"passport": {"name": "Ingrid Solberg"}, "register_extract": {"number": "987654321"}}


def collect(stage: Stage) -> str:
    """From the record of a client to its approval; answers the id of the lifecycle."""
    stage.step("A client's papers: asked, blurred, asked again, verified")
    stage.run("call", "client.register", f"id={CLIENT}", "name=Nordlys Capital", "client_type=fund", is_quiet=True)
    status = standing(stage, "kyc_onboarding", "DOCUMENT_COLLECTION", tasks=2)
    stage.promise(status["started_by"] == "perdure", "the record began the lifecycle, which asked for both papers")
    blurred = hand_in(stage, status, "passport")
    decide(stage, "reject", blurred, "--reason", "BLURRED")
    status = standing(stage, "kyc_onboarding", "DOCUMENT_COLLECTION", tasks=3)
    stage.run("lifecycles", "show", status["id"])
    attempts = [each["attempt"] for each in status["tasks"] if each["key"] == "passport"]
    stage.promise(attempts == [1, 2], "the passport was blurred: the client was asked again, by itself")
    for paper in PAPERS:
        decide(stage, "verify", hand_in(stage, status, paper))
    status = standing(stage, "kyc_onboarding", "REVIEW")
    approve = ("lifecycles", "transition", status["id"], "APPROVED", "--reason", "all in order")
    stage.run(*approve, exit_code=7)
    stage.run(*approve, by=OFFICER, groups=GROUP, is_quiet=True)
    begun = standing(stage, "periodic_review", "CURRENT")
    stage.promise(True, "the last paper moved the client on; compliance approved, and the periodic review began")
    return str(begun["id"])


def year_later(stage: Stage, worker: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """The extract of the register expires, and the review opens by itself."""
    stage.step("A year later, a paper expires")
    worker = wake(stage, worker, 366, "nobody thinks of the client")
    status = standing(stage, "periodic_review", "DATA_REFRESH", tasks=1)
    missing = [text for blocker in status["blockers"] for text in blocker["missing"]]
    stage.promise(
        missing == ["document 'register_extract' is expired, not verified"],
        "the extract expired: the review opened and asked for a new one, and for nothing else",
    )
    decide(stage, "verify", hand_in(stage, status, "register_extract"))
    signed = standing(stage, "periodic_review", "SIGN_OFF")
    sign = ("lifecycles", "transition", signed["id"], "CURRENT", "--reason", "nothing material changed")
    stage.run(*sign, by=OFFICER, groups=GROUP, is_quiet=True)
    status = standing(stage, "periodic_review", "CURRENT")
    moves = [each["target"] for each in status["history"]]
    stage.promise(moves == ["CURRENT", "DATA_REFRESH", "SIGN_OFF", "CURRENT"], "each gate was passed once, in order")
    return worker


def standing(stage: Stage, lifecycle: str, state: str, *, tasks: int = 0) -> dict[str, Any]:
    """The client's instance, once it is in the state and has asked for so much."""
    for _ in range(LOOKS):
        for item in stage.ask("lifecycles", "list", lifecycle, "--subject", CLIENT):
            status: dict[str, Any] = stage.ask("lifecycles", "show", item["id"])
            if status["state"] == state and len(status["tasks"]) >= tasks:
                return status
    raise BrokenPromise(f"{lifecycle} of {CLIENT} did not come to {state}")


def hand_in(stage: Stage, status: dict[str, Any], paper: str) -> str:
    """A paper comes for the request that is open; the id of the document."""
    (task,) = [each for each in status["tasks"] if each["key"] == paper and each["status"] == "pending"]
    given = {
        "document_type": paper, "subject_entity_id": CLIENT, "structured_data": PAPERS[paper],
        "correlation_id": task["correlation_id"],
    }  # fmt: skip
    stage.show_line("call", "document.create", "--args", json.dumps(given), by="portal")
    made = stage.ask("call", "document.create", "--args", json.dumps(given), by="portal")
    return str(made["result"]["document_id"])


def decide(stage: Stage, how: str, document: str, *more: str) -> None:
    stage.run(
        "documents", how, document, "--version", "1", *more, by=OFFICER, groups=GROUP, is_quiet=True
    )  # fmt: skip
