"""What is not hollow is refused where it is deployed, with its code, its place and what to do, and nothing is kept."""

from __future__ import annotations

import pytest

from perdure.bpmn.xml.writer import write_model
from tests.scenarios.sketch import sketches
from tests.surfaces.http.sandbox_server import served

VERBS = """
- {name: h.read, execution: {kind: sync, effects: none}}
- {name: h.other, execution: {kind: sync, effects: none}}
- {name: h.long, execution: {kind: durable}}
- name: h.open
  input_schema: {properties: {amount: {type: integer}}}
  execution:
    kind: durable
    process: opening
    sub_verbs: [h.read]
    flags: {orch_ok: {type: boolean, initial: false}}
"""
HOLLOW = """
== opening
start s
service a h.read
xor g
service b h.read
end e
end f
s > a > g
g > b if orch_ok = true
b > e
g > f default
"""
TASK = '<zeebe:taskDefinition type="h.read"'
MAPPING = '<zeebe:ioMapping><zeebe:input source="=amount" target="amount"/></zeebe:ioMapping>'
CASES = {
    "a script": ("service a h.read", "script a none", "", "", "HOL001", "a"),
    "a condition over data": ("", "", "orch_ok = true", "amount = 1", "HOL002", "g_b"),
    "a flag of no contract": ("orch_ok", "orch_other", "", "", "HOL006", "g_b"),
    "a verb that is not listed": ("a h.read", "a h.other", "", "", "HOL004", "a"),
    "a durable verb": ("a h.read", "a h.long", "", "", "HOL014", "a"),
    "a connector": ("a h.read", "a io.camunda:http-json:1", "", "", "HOL008", "a"),
    "a mapping of data": ("", "", TASK, MAPPING + TASK, "HOL011", "a"),
}


@pytest.mark.both_stores
@pytest.mark.req("V10")
@pytest.mark.parametrize("name", CASES)
async def test_what_is_not_hollow_is_refused_with_its_place_and_is_not_there_afterwards(
    store_url: str, name: str
) -> None:
    drawn, instead, written, other, code, element = CASES[name]
    (hollow,), (model,) = (
        sketches(HOLLOW).values(),
        sketches(HOLLOW.replace(drawn, instead, 1) if drawn else HOLLOW).values(),
    )
    text = write_model(model).replace(written, other, 1)
    async with served(store_url, VERBS) as server:
        ada = server.of("ada")
        refused = await ada.post("/api/processes", {"xml": text}, 422)
        told = [each for each in refused["findings"] if each["code"] == code]
        assert [(each["severity"], each["element"]) for each in told] == [("error", element)], refused["findings"]
        assert told[0]["line"] > 1 and told[0]["hint"]
        assert (await ada.get("/api/processes"))["items"] == []
        await ada.post("/api/processes", {"xml": write_model(hollow)}, 201)
        assert len((await ada.get("/api/processes"))["items"]) == 1
