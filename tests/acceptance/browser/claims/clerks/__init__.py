"""What the verbs do. A claim that begins with BROKEN cannot be rated until a file `mended` is there."""

from pathlib import Path

from perdure import Agent, Call, Decide, Result, agent, verb

MENDED = Path(__file__).resolve().parent.parent / "mended"


@verb("claim.rate")
def rate(call: Call) -> Result:
    if call.args["claim"].startswith("BROKEN") and not MENDED.exists():
        raise RuntimeError("the register of claims does not answer")
    return Result({"group": "administrators"}, flags={"orch_group": "administrators"})


@verb("claim.decide")
def decide(call: Call) -> Result:
    return Result({"decision": call.args["decision"]}, flags={"orch_decision": call.args["decision"]})


@verb("claim.remind")
def remind(call: Call) -> None:
    """Nobody is written to."""


class Judge(Agent):
    name = "judge"

    async def decide(self, call: Call) -> Decide:
        return Decide({"verdict": "fair"}, confidence=0.6, reason="one paper is missing")


judge = agent("claim.judge", Judge())
