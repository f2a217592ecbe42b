"""The instance machine: a token game people can read.

Everything an instance is, is nodes (where tokens stand) and watches (what may happen to them). A command moves
tokens until each stands where only the outside can move it on; all of that is one commit.

| a node | stands on | moves on when |
|---|---|---|
| scope | the process, a subprocess | nothing stands inside it any more, and nothing more begins there |
| many, loop | a multi-instance or looping activity | its iterations have ended, or its condition says so |
| job | a service, send, script or business rule task; an intake | a worker records the result |
| task | a user task | a person completes it |
| wait | a catch event, a receive task | its own watch occurs |
| gate | an event-based gateway | the first of its watches occurs; the others are gone |
| join | a parallel, inclusive or complex gateway | the tokens it waits for have arrived |
| call | a call activity | the called process has ended |
| undo | a compensation throw, a cancelled transaction | everything was undone, last first |
| stuck | where no way out was found | a person resolves its incident |

| an event | armed on | when it occurs |
|---|---|---|
| boundary, interrupting | the activity's node | the node and all inside it are gone, the token leaves by the event |
| boundary, not interrupting | the activity's node | another token leaves by the event; a cycle is armed again |
| start of an event subprocess | the scope's node | interrupting: everything else in the scope is gone first |
| own | a wait or a gate | the token goes on |

Errors go up: boundary events of the node, event subprocesses of its scope, boundary events of that scope, and so on.
Uncaught, a business error of a job is compensated where compensation is declared, else an incident; an error end
event fails the instance. Escalations go the same way and may go unheard. What comes too late (a result of a job that
was interrupted, a message for a wait that has ended, a timer that fired) is recorded and not applied.
"""
