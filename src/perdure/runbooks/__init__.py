"""Runbooks: the aggregate every call lives in, its machine and the conductor that drives it.

A call is a runbook of one step. State table of a step (runbook state in brackets):

| state | on | becomes |
|---|---|---|
| – | StartCall with an intent | running [executing] |
| – | StartCall with an outcome | completed, failed, parked, or pending a retry |
| running | attempt completed / parks / fails for good | completed / parked [parked] / failed |
| running | attempt fails, policy allows another | pending [executing], a retry timer |
| running | contract violated, or interrupted too often | parked with an incident [parked] |
| pending | retry timer fires | running, leased to whoever fired it |
| parked | completion completed / failed | completed / failed |
| parked | timeout or `expired` without escalation | failed as timed_out |
| parked | timeout or `expired` with escalation | parked on the escalation's token [escalated] |
| parked with incident | retry / resolve | running or parked again / completed or failed |
| any but ended | cancel | cancelled |

Failure table: whatever arrives for a step that has ended is recorded and not applied; an attempt
that reports after it was superseded (reclaimed, cancelled) is recorded and not applied; a key no
token waits for is a dead letter; a command in the wrong state is a rejection and writes nothing.
"""
