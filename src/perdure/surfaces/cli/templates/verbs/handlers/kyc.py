"""What the kyc verbs do."""

from __future__ import annotations

from typing import Any

from perdure import Call, verb

WATCH_LIST = frozenset({"max mustermann", "evil corp"})


@verb("kyc.check-name")
def check_name(call: Call) -> dict[str, Any]:
    """Answers at once; what it returns is checked against the verb's output schema."""
    name = call.args["name"]
    return {"name": name, "listed": name.lower() in WATCH_LIST}


@verb("kyc.request-document")
def request_document(call: Call) -> dict[str, Any]:
    """Sends the request outward, then the call parks until somebody completes it.

    `call.idempotency_key` is the same when this runs again after a crash: pass it on, and the client gets one letter.
    """
    return {}
