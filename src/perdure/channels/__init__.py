"""Channels: how other systems reach the platform and how it reaches them, signed both ways.

| a delivery meets | what happens |
|---|---|
| 2xx | delivered |
| 410 | given up at once: the receiver wants no more; a dead letter says so |
| another status, no connection, a timeout | another attempt after a pause that grows, and as `Retry-After` asks |
| a redirect | never followed: another attempt, like any status that is not 2xx |
| an address inside, or a name that leads to one | given up at once, unless `egress.allow` names it |
| attempts run out | a dead letter, which a person replays or discards |
"""
