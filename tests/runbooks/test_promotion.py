"""A verb that becomes durable changes no caller: the same programs, sentences, results and shapes of events."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, load_text

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
