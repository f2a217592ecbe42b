"""Camunda 8: a model of ours in the dialect of its engine Zeebe.

| ours | there |
|---|---|
| a verb as type | the same job type |
| `intake` of a wait | an execution listener at its end, which is a job of that type |
| flags | variables; a start event without a trigger gives those that nobody gave their first values |
| a literal correlation key `k` | `="k"` |
| a due date `P3D` | `=now() + duration("P3D")` |
| groups or users in a flag | the list that the text names |
| `orch_n` iterations | a collection of `orch_n` numbers, empty for 0 |
| `orch_completed_count` | `numberOfCompletedInstances` |
| a decision, script or publication beside a verb | left out: the verb does the work |
| a user task | one of Zeebe's own (`zeebe:userTask`) |
| a condition on a default flow, a compensation event that does not interrupt | without, since neither has an effect |
"""

from perdure.bpmn.camunda.dialect import zeebe_model, zeebe_xml

__all__ = ["zeebe_model", "zeebe_xml"]
