"""Buses: messages to and from brokers by one port, acknowledged in step with our commit.

| a delivery meets | what happens |
|---|---|
| it counts, or counted before, or its task is over | acknowledged, after the commit |
| no such task, bad cargo, a task that people decide | parked with its reason as a dead letter, then acknowledged |
| an error of the moment | tried again here, up to `max_tries`; then parked |
| the store is away | nothing is acknowledged or read on; the consumer pauses and holds what it has |
| the consumer dies | the broker delivers it again, to whoever is left; the second time it is known |
| the broker is away | the consumer connects again, with a pause that grows |

| broker | a trap of its own | how it is met |
|---|---|---|
| Redis | a deleted consumer loses what it was given | a consumer deletes only itself, with nothing pending |
| Kafka | a commit acknowledges whatever stands before it | it ends before the first message that is not settled |
| NATS | a second publish under one message id is dropped | a repeat has the same id, a new sending one of its own |
"""
