"""Which instance a step is for; and that one that is refused is a remark: the rest is taken, expectations decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn.xml import write_model
from tests.scenarios.drawn import played
from tests.scenarios.sketch import sketches

ASKED = "start s\nuser u\nservice a a.one\nend e\ns > u > a > e\n"
BEGUN = "start s message order\nuser u\nend e\ns > u > e\n"
CONTRACT = """
- name: order.go
  execution: {kind: durable, process: p, sub_verbs: [a.one], flags: {orch_x: {type: boolean, initial: false}}}
- name: a.one
"""
DONE = "\n- task: {element: u}\nexpect: {state: completed}\n"

REFUSED = {
    "a message that starts nothing": (BEGUN, "- start: {message: {name: other}}\n- start: {message: {name: order}}"),
    "a start twice": (BEGUN, "- start: {message: {name: order, id: m}}\n- start: {message: {name: order, id: m}}"),
    "too early": (ASKED, "- task: {element: u}\n- start: {}"),
    "before anything": (ASKED, "- cancel: {}\n- start: {}"),
    "a wrong flag": (ASKED, "- start: {}\n- task: {element: u, flags: {orch_x: perhaps}}"),
    "suspended": (ASKED, "- start: {}\n- suspend: {}\n- task: {element: u}\n- resume: {}"),
    "no token there": (ASKED, "- start: {}\n- modify: {cancel: [a]}"),
    "named and not started": (BEGUN, "- cancel: {to: one}\n- start: {as: one, message: {name: order}}"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_refused_step_is_a_remark_and_the_rest_is_taken(tmp_path: Path, name: str) -> None:
    sketch, steps = REFUSED[name]
    text = f"profile: open\ndo:\n{steps}{DONE}"
    outcome = await played(tmp_path, sketch, text, CONTRACT)
    assert outcome.passed, outcome
    [remark] = outcome.actual.remarks
    number = int(remark.removeprefix("Step ").split(" ")[0])
    assert remark.startswith(f"Step {number} (line {number + 3}), "), remark


@pytest.mark.parametrize("name", REFUSED)
async def test_where_nothing_is_expected_a_refused_step_fails(tmp_path: Path, name: str) -> None:
    sketch, steps = REFUSED[name]
    outcome = await played(tmp_path, sketch, f"profile: open\ndo:\n{steps}{DONE.partition('expect')[0]}", CONTRACT)
    assert not outcome.passed
    assert outcome.failures == outcome.actual.remarks
    assert outcome.actual.state == "completed"


async def test_the_wrong_person_is_refused_and_the_right_one_completes(tmp_path: Path, store_url: str) -> None:
    sketch = ASKED.replace("user u", "user u assignee=rita")
    text = "profile: open\ndo:\n- start: {}\n- task: {element: u, by: mallory}\n- task: {element: u, by: rita}\n"
    outcome = await played(tmp_path, sketch, f"{text}expect: {{state: completed}}\n", store=store_url)
    assert outcome.passed, outcome
    assert len(outcome.actual.remarks) == 1


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("task: {element: uu}", "the model has no element 'uu'. Did you mean 'u'?"),
        ("retry: {element: x}", "no element 'x'"),
        ("modify: {start: [x]}", "no element 'x'"),
        ("start: {process: q}", "no executable process 'q'"),
        ("cancel: {to: nobody}", "no step starts an instance as 'nobody'"),
    ],
)
async def test_what_can_never_work_fails_whatever_is_expected(tmp_path: Path, step: str, said: str) -> None:
    text = f"profile: open\ndo:\n- start: {{}}\n- {step}{DONE}"
    outcome = await played(tmp_path, ASKED, text)
    assert not outcome.passed
    assert said in outcome.failures[0]
    assert len(outcome.failures) == 1
    assert outcome.actual.state == "completed"


@pytest.mark.parametrize(
    ("steps", "states"),
    [
        ("- task: u\n- cancel: {}", {"a": "completed", "b": "cancelled"}),
        ("- cancel: {}\n- cancel: {}", {"a": "cancelled", "b": "cancelled"}),
        ("- cancel: b\n- task: u", {"a": "completed", "b": "cancelled"}),
        ("- suspend: b\n- resume: {}\n- suspend: {}", {"a": "suspended", "b": "active"}),
        ("- cancel: {}\n- suspend: {}\n- cancel: {instance: b}", {"a": "cancelled", "b": "cancelled"}),
    ],
)
async def test_a_step_without_a_name_is_for_the_first_that_still_runs(
    tmp_path: Path, steps: str, states: dict[str, str]
) -> None:
    outcome = await played(tmp_path, ASKED, f"do:\n- start: {{as: a}}\n- start: {{as: b}}\n{steps}\n")
    assert outcome.passed, outcome
    assert outcome.actual.states == states


async def test_a_model_may_call_what_a_later_step_deploys(tmp_path: Path) -> None:
    [called] = sketches("== q\nstart qs\nservice b b.two\nend qe\nqs > b > qe\n").values()
    (tmp_path / "q.bpmn").write_text(write_model(called), encoding="utf-8")
    steps = "[{deploy: {model: q.bpmn}}, {start: {process: p}}]"
    text = f"profile: open\ndo: {steps}\nexpect: {{state: completed, ran: [b.two]}}\n"
    outcome = await played(tmp_path, "start s\ncall c q\nend e\ns > c > e\n", text)
    assert outcome.passed, outcome


@pytest.mark.req("V21")
@pytest.mark.parametrize(
    ("sketch", "do", "expect"),
    [
        (
            "start s\nuser u\nend e\nboundary b on u non timer cycle @daily\nservice n a.one\nend e2\n"
            "s > u > e\nb > n > e2\n",
            "[{start: {}}, {advance: P2D}, {task: {element: u}}]",
            "{state: completed, ran: [a.one, a.one]}",
        ),
        (
            "start s timer cycle @daily\nservice n a.one\nend e\ns > n > e\n",
            "[{advance: P2D}]",
            "{ran: [a.one, a.one]}",
        ),
    ],
    ids=["boundary", "start"],
)
async def test_a_cron_timer_fires_on_the_engine(tmp_path: Path, sketch: str, do: str, expect: str) -> None:
    outcome = await played(tmp_path, sketch, f"profile: open\ndo: {do}\nexpect: {expect}\n")
    assert outcome.passed, outcome
