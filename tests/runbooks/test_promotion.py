"""A verb that becomes durable changes no caller: the same programs, sentences, results and shapes of events."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, load_text
from tests.scenarios.sketch import sketches
from tests.surfaces.http.sandbox_server import served

SYNC = "{kind: sync, effects: external}"
DURABLE = "{kind: durable}"
NAMES = ("a", "b", "c")
ONLY_OF_WAITING = frozenset({"StepParked", "CompletionReceived"})
ONLY_OF_RUNNING = frozenset({"AttemptStarted"})


def definitions(durable: frozenset[str]) -> str:
    return "\n".join(
        f"""
- name: v.{name}
  sentences: {{step: "Do {name} for {{who}}"}}
  input_schema: {{required: [who], properties: {{who: {{type: string}}, from: {{}}}}}}
  output_schema: {{required: [ok, who], properties: {{ok: {{type: boolean}}, who: {{type: string}}}}}}
  execution: {DURABLE if name in durable else SYNC}
"""
        for name in NAMES
    )


def answer(args: dict[str, Any]) -> dict[str, Any]:
    return {"ok": len(args["who"]) % 2 == 0, "who": args["who"]}


async def handler(call: Call) -> dict[str, Any]:
    return answer(call.args)


def program(chance: random.Random) -> str:
    lines, names = [], []
    for number in range(chance.randrange(1, 6)):
        verb = chance.choice(NAMES)
        more = f", from: {chance.choice(names)}.ok" if names and chance.random() < 0.6 else ""
        after = f" AFTER {chance.choice(names)}" if names and chance.random() < 0.3 else ""
        lines.append(f'LET s{number} = EXEC v.{verb}(who: "{"x" * chance.randrange(1, 4)}"{more}){after}')
        names.append(f"s{number}")
    if names and chance.random() < 0.5:
        verb = chance.choice(NAMES)
        lines.append(f'IF {chance.choice(names)}.ok THEN\n  LET t = EXEC v.{verb}(who: "t")\nEND')
    return "\n".join(lines)


async def outcome(text: str, durable: frozenset[str]) -> tuple[Any, Any, Any]:
    """What a caller sees of a program: the plan, the runbook at its end, and what its events look like."""
    handlers = {f"v.{name}": handler for name in NAMES if name not in durable}
    async with Sandbox.open("sqlite://", definitions=load_text(definitions(durable)), handlers=handlers) as sandbox:
        plan = sandbox.runbooks.plan(text)
        view = await sandbox.runbooks.start(text)
        for _ in range(20):
            await sandbox.run_until_idle()
            view = await sandbox.runbooks.show(view.id)
            if view.is_ended:
                break
            for step in view.steps:
                if step.state == "parked":
                    await sandbox.complete(f"{view.id}:{step.number}", answer(step.args))
        told = [(step.sentence, step.verb, step.needs, step.after, step.branch) for step in plan.steps]
        steps = [(step.name, step.state, step.sentence, step.args, step.result, step.error) for step in view.steps]
        shapes = {
            (event.entry, tuple(sorted(event.data)))
            async for event in sandbox.runbooks.events(view.id)
            if event.entry not in ONLY_OF_WAITING | ONLY_OF_RUNNING
        }
        return told, (view.state, steps), shapes


@pytest.mark.req("V29", "V1")
@given(st.integers(0, 2**32 - 1), st.frozensets(st.sampled_from(NAMES)))
@settings(deadline=None, max_examples=25)
async def test_promoting_verbs_to_durable_changes_nothing_a_caller_sees(seed: int, promoted: frozenset[str]) -> None:
    text = program(random.Random(seed))
    before = await outcome(text, frozenset())
    after = await outcome(text, promoted)
    assert after == before


@pytest.mark.req("V29", "V1")
@given(st.text(min_size=1, max_size=5), st.booleans())
@settings(deadline=None, max_examples=25)
async def test_a_call_of_a_promoted_verb_gives_the_same_result_and_events(who: str, is_durable: bool) -> None:
    durable = frozenset(NAMES) if is_durable else frozenset()
    handlers = {} if is_durable else {f"v.{name}": handler for name in NAMES}
    async with Sandbox.open("sqlite://", definitions=load_text(definitions(durable)), handlers=handlers) as sandbox:
        view = await sandbox.call("v.a", {"who": who})
        if is_durable:
            await sandbox.complete(view.id, answer({"who": who}))
            view = await sandbox.status(view.id)
        assert (view.state, view.result) == ("completed", answer({"who": who}))
        ends = [event async for event in sandbox.events(view.id) if event.entry in ("CallStarted", "StepCompleted")]
        assert [event.entry for event in ends] == ["CallStarted", "StepCompleted"]
        assert sorted(ends[-1].data) == ["at", "flags", "result", "step"]


OPENING = """
- {name: v.look, execution: {kind: sync, effects: none}}
- name: v.open
  sentences: {step: "Open a case for {who}"}
  input_schema: {required: [who], properties: {who: {type: string}}}
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution: %s
- name: v.tell
  input_schema: {properties: {ok: {}}}
  execution: {kind: sync, effects: none}
"""
MODEL = """
== opening
start s
service a v.look
end e
s > a > e
"""


async def asked(url: str, execution: str, model: str) -> list[Any]:
    """What one caller over HTTP and one with a program are answered; neither knows how the verb is carried."""
    told: list[Any] = []

    async def look(call: Call) -> dict[str, Any]:
        return {"ok": len(call.args["who"]) == 3}

    async def tell(call: Call) -> dict[str, Any]:
        told.append(call.args)
        return {}

    handlers = {"v.look": look, "v.open": look, "v.tell": tell}
    handlers = handlers if "sync" in execution else {"v.look": look, "v.tell": tell}
    async with served(url, OPENING % execution, handlers=handlers) as server:
        await server.sandbox.processes.deploy_all(list(sketches(model).values()))
        ada = server.of("ada")
        begun = await ada.post("/api/verbs/v.open/calls", {"args": {"who": "Ada"}}, 201)
        run = await server.sandbox.runbooks.start('LET a = EXEC v.open(who: "Grace")\nEXEC v.tell(ok: a.ok)')
        await server.idle()
        shown = await ada.get(f"/api/calls/{begun['id']}")
        view = await server.sandbox.runbooks.show(run.id)
        steps = [(step.verb, step.state, step.args, step.result) for step in view.steps]
        return [shown["state"], shown["result"], shown["sentence"], shown["args"], view.state, steps, told]


@pytest.mark.both_stores
@pytest.mark.req("V29", "V1")
async def test_a_verb_that_gets_a_model_answers_its_callers_as_before(store_url: str) -> None:
    before = await asked("sqlite://", "{kind: sync, effects: none}", "")
    after = await asked(store_url, "{kind: durable, process: opening, sub_verbs: [v.look]}", MODEL)
    assert after == before
    assert after[:2] == ["completed", {"ok": True}] and after[-1] == [{"ok": False}]
