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

Plans: the same steps, wired. Besides the rows above:

| state | on | becomes |
|---|---|---|
| – | added, something it hangs on has not ended | pending |
| pending | the last of what it hangs on ended | ready; parked at its gate; held while a failure stops the runbook |
| pending | a choice came out the other way, or all it could take an input from ended without one | skipped |
| ready | launched: references resolved, locks taken | running, or parked when nothing runs before the wait |
| ready, a choice | launched | completed on one side |
| ready | what it was to be asked with cannot be had | parked with an incident [parked] |
| parked at a gate | someone of the group, not the one who asked, agrees / refuses | ready / failed as gate.refused |
| failed | retry | ready |
| not ended and not running, or failed | skip | skipped |
| not ended | cancel of the step, of the runbook | cancelled |

A step hangs on what it needs (data), comes after (sequence) or is a side of (choice). A step that was skipped or
cancelled, or whose failure was passed, has no result: what needs it is skipped in turn, and what only comes after it
goes on.

| a step failed and `on_failure` is | what follows |
|---|---|
| stop | nothing new begins; what runs or waits goes on; when the last of that has ended the runbook failed |
| continue | the failure is passed at once |
| ask | the rest goes on; the runbook stays parked until somebody retries, skips or cancels |
| decide | its decision verb is asked in a step of its own; when that has ended the failure is passed |

A broken contract, such as a bug of a handler, is an incident, unless `ask` or `decide` hands failures to somebody: then
it is a failure as any other.

| a runbook is | when |
|---|---|
| draft | it is still being written |
| executing | a step runs, is ready, or waits for its next attempt |
| escalated, parked | no step does, and one waits for an escalation; for anything else, for a person, or to be sealed |
| failed, completed | it is sealed and nothing of that is left, with or without a failure that stopped it |
| cancelled | somebody cancelled it, or what completed was taken back |

A failed runbook goes on when its failed step is retried or skipped. Compensation adds one step for each completed one
that has something to undo it, chained so that the last completed is undone first; one that fails lets the others run
and leaves the runbook failed. Rows of locks exist from the launch of a step until it parks or ends.
"""
