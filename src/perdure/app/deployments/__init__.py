"""Deployments before they happen: the impact of models, verbs and carrier code on everything that runs.

A deployment changes nothing that runs: instances stay on the version they began under. The check tells for every state
in which instances are parked whether they could follow, and nothing is changed by asking.

| verdict | it means |
|---|---|
| `goes_on` | nothing of it changes: the same definition, or its own text of a verb, which is still served |
| `migrates` | it can go on under the new version with the mapping told, and a proof from there ends well |
| `stays_pinned` | it has to end as it began; `reason` says why, `steps` how it would get stuck otherwise |

| decided by | how |
|---|---|
| the migration of one instance of the state, tried and thrown away | with the mapping given, then the one proposed |
| a proof from the migrated state | deadlock, improper completion, a gateway without a way out, no end |
| the same proof from the state as it is | what could happen under the old version as well is not introduced |
| a bound that was reached | `stays_pinned`, and `bound` names it: what is not shown to end well is not said to |

Instances are in one state when tokens stand alike, wait for the same and know the same of every flag that a condition
may still read; values that no condition tells apart are one.
"""
