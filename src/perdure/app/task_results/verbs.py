"""The verb `workflow.complete-task`, which the platform brings along with lifecycles: a door like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.documents.caller_reach import CallerReach
from perdure.app.task_results.result_intake import Sender, outcome_of_answer
from perdure.errors import BusinessError, RejectedError
from perdure.lifecycles.task_results import result_of
from perdure.verbs import Call, Catalogue, HandlerRegistry
from perdure.verbs.loader import load_text

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

VERB = "workflow.complete-task"
DEFINITION = """
- name: workflow.complete-task
  description: Bring the result of a pending task
  sentences: {step: ["Bring the result of task {correlation-id}: {status}"]}
  args:
    - {name: correlation-id, type: string, required: true}
    - {name: status, type: string, required: true, valid_values: [completed, failed, expired]}
    - {name: verb, type: string}
    - {name: cargo-type, type: string}
    - {name: cargo-ref, type: string}
    - {name: items, type: json}
    - {name: error, type: string}
    - {name: idempotency-key, type: string}
  execution: {kind: sync, effects: external}
"""
WORKFLOW_FILE = "<workflow>"
"""The place of the definition, which is how our own is told from one of a project."""


def with_workflow_verb(catalogue: Catalogue, has_lifecycles: bool) -> Catalogue:
    """The catalogue with the verb, where there are lifecycles or documents; a verb of the project stays as it is."""
    if not has_lifecycles and not catalogue.documents:
        return catalogue
    return catalogue.with_verbs(verb.definition for verb in load_text(DEFINITION, WORKFLOW_FILE).every_version())


class WorkflowVerbs:
    """The handler, on behalf of whoever called."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def bind(self, registry: HandlerRegistry) -> None:
        verb = self._runtime.catalogue.find(VERB)
        if verb is not None and verb.definition.file == WORKFLOW_FILE:
            registry.bind(VERB, self.complete)

    async def complete(self, call: Call) -> dict[str, Any]:
        """Count the result; run again after a crash under the same key, it is known."""
        fields = {"idempotency_key": call.idempotency_key, **call.args}
        try:
            result = result_of(fields)
            await CallerReach(self._runtime).check_answer(call, result.correlation_id)
            receipt = await self._runtime.results.count(result, Sender("verb", call.tenant, call.principal))
        except RejectedError as error:
            raise BusinessError(error.rejection.code, str(error)) from error
        if (metrics := self._runtime.metrics) is not None:
            metrics.task_result("verb", outcome_of_answer(receipt.answer))
        told: dict[str, Any] = msgspec.to_builtins(receipt)
        return told
