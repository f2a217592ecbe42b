"""The entities and verbs that the tests of records are about."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from perdure import Perdure
from perdure.verbs import load_text

DEFINITIONS = """
entities:
  case:
    key: case_id
    fields:
      case_id: uuid
      client: {type: string, required: true}
      status: {type: enum, values: [open, closed]}
      amount: decimal
      opened_on: date
      seen_at: timestamp
      points: integer
      is_urgent: boolean
      notes: json
  holding:
    key: [fund, isin]
    fields: {fund: string, isin: string, units: integer}
  counter:
    key: name
    fields: {name: string, value: {type: integer, required: true}}
---
- name: case.open
  execution: {handler: "crud::execute", params: {entity: case, operation: create, set_values: {status: open}}}
  args:
    - {name: case-id, type: uuid}
    - {name: client, type: string, required: true}
    - {name: amount, type: decimal}
    - {name: points, type: integer}
    - {name: colour, type: string}
- name: case.read
  execution: {handler: "crud::execute", params: {entity: case, operation: select}}
  args: [{name: case-id, type: uuid}, {name: client, type: string}, {name: version, type: integer},
         {name: deleted, type: boolean}]
- name: case.update
  execution: {handler: "crud::execute", params: {entity: case, operation: update}}
  input_schema:
    required: [case_id]
    properties: {case_id: {type: uuid}, client: {}, status: {}, amount: {}, points: {}, version: {type: integer}}
- name: case.close
  execution:
    handler: crud::execute
    params: {entity: case, operation: update, set_values: {status: closed}, returning: [status, version]}
  args: [{name: case-id, type: uuid, required: true}]
- name: case.delete
  execution: {handler: "crud::execute", params: {entity: case, operation: delete}}
  args: [{name: case-id, type: uuid, required: true}, {name: version, type: integer}, {name: client, type: string}]
- name: case.list
  execution: {handler: "crud::execute", params: {entity: case, operation: list}}
  args: [{name: client, type: string}, {name: status, type: string}, {name: after, type: string},
         {name: limit, type: integer}]
- name: case.history
  execution: {handler: "crud::execute", params: {entity: case, operation: history}}
  args: [{name: case-id, type: uuid, required: true}, {name: after, type: integer}, {name: limit, type: integer}]
- name: case.ensure
  execution: {handler: "crud::execute", params: {entity: case, operation: upsert, conflict_keys: [client]}}
  args: [{name: client, type: string, required: true}, {name: points, type: integer}]
- name: case.rename
  execution: {handler: "crud::execute", params: {entity: case, operation: update, key: client}}
  args: [{name: client, type: string, required: true}, {name: points, type: integer}]
- name: holding.put
  execution: {handler: "crud::execute", params: {entity: holding, operation: upsert}}
  args: [{name: fund, type: string}, {name: isin, type: string}, {name: units, type: integer},
         {name: version, type: integer}]
- {name: counter.increase, execution: {effects: store}, args: [{name: name, type: string, required: true}]}
- {name: work.store, execution: {effects: store, retry: {max_attempts: 2, base_delay: PT0.01S}}}
- {name: work.none, execution: {effects: none}}
- {name: work.external, execution: {effects: external}}
"""

Handlers = dict[str, Callable[..., Any]]


def opened(url: str, handlers: Handlers | None = None, **options: Any) -> AbstractAsyncContextManager[Perdure]:
    """The platform on a store with these definitions."""
    return Perdure.open(url, definitions=load_text(DEFINITIONS), handlers=handlers or {}, **options)


async def result(perdure: Perdure, verb: str, **args: Any) -> Any:
    """What a call that must succeed gave back."""
    view = await perdure.call(verb, args)
    assert view.state == "completed", view.error
    return view.result


async def refusal(perdure: Perdure, verb: str, **args: Any) -> tuple[str, str]:
    """Code and text of a call that must fail for its caller to see."""
    view = await perdure.call(verb, args)
    assert view.state == "failed" and view.error is not None, view
    assert view.error.failure_class == "permanent_business"
    return view.error.code, view.error.message
