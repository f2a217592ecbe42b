"""The contract of a process, from what the catalogue declares."""

from __future__ import annotations

from perdure.app.processes.contracts import contract_of
from perdure.verbs import load_text

VERBS = """
- name: order.fulfil
  execution:
    kind: durable
    process: order
    sub_verbs: [order.pack, order_ship]
    compensation: {order.pack: order.unpack}
    flags:
      orch_paid: {type: boolean, initial: false, writers: [order.pack]}
- name: order.pack
  output_schema: {properties: {weight: {type: integer}}}
  contract: {writes_flags: [orch_paid], may_raise: [OUT_OF_STOCK]}
  execution: {kind: sync, effects: store}
- name: order.unpack
  execution: {kind: sync, effects: none}
- name: order-ship
  execution: {kind: sync}
"""


def test_a_contract_says_what_the_durable_verb_and_its_verbs_declare() -> None:
    contract = contract_of(load_text(VERBS), "order")
    assert contract is not None
    assert (contract.verb, contract.process, contract.processes) == ("order.fulfil", "order", ("order",))
    assert contract.compensation == {"order.pack": "order.unpack"}
    assert [flag.name for flag in contract.flags] == ["orch_paid"]
    verbs = {verb.name: verb for verb in contract.verbs}
    assert verbs["order.fulfil"].is_durable
    assert verbs["order.pack"].writes_flags == ("orch_paid",)
    assert verbs["order.pack"].errors == ("OUT_OF_STOCK",)
    assert verbs["order.pack"].outputs == ("weight",)
    assert verbs["order.pack"].effects == "store"


def test_what_a_verb_does_not_promise_is_unknown_and_not_nothing() -> None:
    contract = contract_of(load_text(VERBS), "order")
    assert contract is not None
    plain = next(verb for verb in contract.verbs if verb.name == "order.unpack")
    assert (plain.writes_flags, plain.errors, plain.outputs) == (None, None, None)


def test_a_process_no_verb_names_has_no_contract() -> None:
    assert contract_of(load_text(VERBS), "billing") is None
