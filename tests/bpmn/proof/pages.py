"""Writes the part of `docs/reference/proof.md` that lists the codes: `python -m tests.bpmn.proof.pages`."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.proof import CODES
from tests.bpmn.proof.cases import CASES, Case
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "proof.md"
MARK = "<!-- from here on generated: python -m tests.bpmn.proof.pages -->"


def written(page: str) -> str:
    """The page with its generated part as it must be."""
    return page.partition(MARK)[0] + MARK + "\n" + "".join(_section(code) for code in CODES if code != "SND010")


def _section(code: str) -> str:
    about, severity = CODES[code]
    name, case = next((name, case) for name, case in CASES.items() if case.code == code)
    finding = next(each for each in case.prove(case.wrong).findings if each.code == code)
    steps = "".join(f"{number}. {step.sentence()}\n" for number, step in enumerate(finding.steps, 1))
    return (
        f"\n## {code}: {about}\n\nSeverity: {severity}. For example {name}:\n\n```text\n{_drawn(case.wrong)}```\n\n"
        f"> {finding.message()} {finding.hint}\n\n{steps}{'' if not steps else chr(10)}"
        f"Put right:\n\n```text\n{_drawn(case.right)}```\n{_given(case)}"
    )


def _given(case: Case) -> str:
    told = [f"`{verb}` may raise {', '.join(codes) or 'nothing'}" for verb, codes in case.may_raise.items()]
    told += [f"`{verb}` writes {', '.join(names) or 'nothing'}" for verb, names in case.writes.items()]
    return f"\nDeclared: {'; '.join(told)}.\n" if told else ""


def _drawn(model: m.Definitions) -> str:
    return "".join(_lines(model.processes[0].body, ""))


def _lines(body: m.Scope, indent: str) -> list[str]:
    defaults = {node.default for node in body.nodes if isinstance(node, m.Gateway)}
    found = [f"{indent}{_flow(flow, defaults)}\n" for flow in body.flows]
    for node in body.nodes:
        if isinstance(node, m.Event) and node.attached_to:
            how = "interrupting" if node.is_interrupting else "not interrupting"
            found.append(f"{indent}{node.id}: {_trigger(node)} on {node.attached_to}, {how}\n")
        elif isinstance(node, m.Event) and node.triggers:
            found.append(f"{indent}{node.id}: {_trigger(node)}\n")
        if isinstance(node, m.Task) and isinstance(node.repeat, m.MultiInstance):
            found.append(f"{indent}{node.id}: {node.repeat.cardinality.text} times\n")
        if isinstance(node, m.SubProcess):
            found += [f"{indent}{node.id}:\n", *_lines(node.body, f"{indent}    ")]
    return found


def _flow(flow: m.Flow, defaults: set[str]) -> str:
    if flow.id in defaults:
        return f"{flow.source} -> {flow.target}  [default]"
    return f"{flow.source} -> {flow.target}" + (f"  [{show_condition(flow.condition)}]" if flow.condition else "")


def _trigger(event: m.Event) -> str:
    trigger = event.triggers[0]
    match trigger:
        case m.ErrorTrigger(error):
            return f"error {error or 'of any code'}"
        case m.TimerTrigger(_, value):
            return f"timer {value.text}"
        case m.ConditionalTrigger(condition):
            return f"condition {show_condition(condition)}"
        case _:
            return type(trigger).__name__.removesuffix("Trigger").lower()


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
