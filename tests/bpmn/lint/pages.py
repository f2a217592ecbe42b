"""Writes the pages of lint codes: `python -m tests.bpmn.lint.pages`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import yaml

from perdure.bpmn.lint.contract import Contract, VerbContract
from perdure.bpmn.lint.findings import PROFILES, TARGETS, Finding
from perdure.bpmn.lint.rule import Rule
from perdure.bpmn.lint.rules import RULES
from perdure.bpmn.svg import Mark, Marks, draw
from perdure.verb_contract import FlagContract
from tests.bpmn.lint.models import Side, files_of, findings_in, model_of, settings_of
from tests.house.tree import ROOT

INDEX = ROOT / "docs" / "reference" / "lint.md"
FOLDER = ROOT / "docs" / "reference" / "lint"
GENERATED = "<!-- generated: python -m tests.bpmn.lint.pages -->\n"
GROUPS = {
    "HOL": ("Hollow", "A process says what comes after what; everything else is a verb."),
    "BPM": ("Correctness", "What a diagram must be to mean one thing, on any engine."),
    "CON": ("Contract", "The model and the verb it carries agree: flags, errors, keys, what runs at once."),
    "AME": (
        "Contract profile",
        "A model that others program against says everything once; nothing evaluates.",
    ),
    "PRT": ("Portability", "What another engine would not accept. Asked only with `--target`."),
}
READING = {
    "BPM001": ("the file is not well-formed XML, or not in an encoding that is read", "save it again, as UTF-8"),
    "BPM002": (
        "it has a document type, an entity, an instruction or an inclusion",
        "remove it: a model never needs one",
    ),
    "BPM003": ("it is too large, or one of its parts is", "split the model"),
    "BPM004": ("its elements nest too deeply", "flatten the subprocesses"),
    "BPM005": ("its root is not `bpmn:definitions`", "save it as BPMN 2.0"),
    "BPM006": ("an element has no id", "give it one"),
    "BPM007": ("two elements have one id", "give each an id of its own"),
    "BPM008": ("a reference leads to something that is not in the file", "draw it, or correct the reference"),
    "BPM009": ("a reference leads to something of another kind", "refer to the kind the message names"),
    "BPM010": (
        "a flow or boundary event crosses the border of a scope; as a warning, a lane lists a node of another process",
        "connect elements of one scope, list nodes of the lane's own process",
    ),
    "BPM011": ("an attribute is missing that must be there", "add it"),
    "BPM012": ("an element does not belong where it stands, or BPMN has none of that name", "move or remove it"),
    "BPM013": (
        "an element of BPMN has no place in a process here; as a warning, one of a collaboration is not kept",
        "remove it",
    ),
    "BPM014": ("an attribute has a value it cannot have", "write one that the message names"),
    "BPM015": ("something is said twice", "keep one of the two"),
    "BPM016": ("the default, incoming or outgoing flow of an element is that of another one", "name its own flows"),
    "BPM017": ("a model cannot be written as XML", "correct what the message names"),
    "BPM018": ("an attribute is not of BPMN 2.0 and has no effect", "correct its name, or remove it"),
}
"""What reading a file may refuse: the code, what it means, what to do."""


def index() -> str:
    """The page that lists every code."""
    parts = [INTRODUCTION]
    for prefix, (title, sentence) in GROUPS.items():
        parts.append(f"## {title}\n\n{sentence}\n")
        parts.append("| code | name | what it finds | severity |\n|---|---|---|---|")
        rules = [rule for rule in RULES if rule.CODE.startswith(prefix)]
        parts.append("\n".join(map(_row, rules)) + "\n")
    parts.append(
        "## Reading\n\nA file that cannot be read is refused before any rule looks at it. A drawing or a "
        "description (a group, a data store, an operation, an item) that refers to nothing is a warning, and "
        "so is an attribute that has no effect (`BPM018`, or `BPM014` where only its value is unknown), "
        "an id that XML does not allow (`BPM014`) or that a drawing gives twice (`BPM007`), a node in two lanes of "
        "one set (`BPM015`), data or a text in a lane (`BPM009`) and a gateway whose flows go against its direction "
        "(`BPM014`).\n"
    )
    rows = [f"| `{code}` | {meaning} | {advice} |" for code, (meaning, advice) in READING.items()]
    parts.append("\n".join(["| code | it means | what to do |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


INTRODUCTION = f"""# Lint codes

{GENERATED}
`perdure lint PATH…` reads process models and says what is wrong with them, with a code, a place and what to do instead.
Deployment uses the same rules: what has errors is refused. What lints clean is deployed, unless
[the proof](../explanation/what-the-proof-says.md) refutes it. Codes are stable.

```bash
perdure lint models/
perdure lint models/order.bpmn verbs/order.yaml --profile hollow --target camunda
```

A model is held against the verb whose `execution.process` names it: the verbs of the YAML files on the command
line, else of the project around the model (`perdure.yaml`), else of the YAML files in its folder. Without such a verb
the rules that need a contract are silent, and the report says so.

`--json` prints the findings for programs, `--sarif` prints SARIF 2.1.0 for code hosts and editors. The command ends
with 1 when there are errors; warnings and remarks do not stop anything.

`--target camunda` and `--target temporal` check a model for a later move: whether Camunda 8, or the same machine inside
Temporal, could carry it. `camunda:8.6` to `camunda:8.9` name a release, `camunda` alone is the oldest of them. What is
clean for it can be [exported](../how-to/camunda.md). Deployment checks `embedded`.
"""


def _row(rule: Rule) -> str:
    title = _title(rule).removesuffix(".")
    return f"| [`{rule.CODE}`](lint/{rule.CODE}.md) | {rule.NAME} | {title} | {_severity(rule)} |"


def _severity(rule: Rule) -> str:
    found = {profile: rule.SEVERITIES.of(profile, rule.SEVERITIES.targets[0]) or "off" for profile in PROFILES}
    if len(set(found.values())) == 1:
        return found["hollow"]
    return ", ".join(f"{severity} in {profile}" for profile, severity in found.items() if severity != "off")


def page(rule: Rule) -> str:
    """The page of one rule: what it is about, how grave it is, a wrong and a right picture."""
    parts = [f"# {rule.CODE} {rule.NAME}\n", GENERATED, (rule.__doc__ or "").strip() + "\n", _severities(rule)]
    for side in ("wrong", "right"):
        parts.append(_side(rule, "wrong" if side == "wrong" else "right"))
    parts.append("[All codes](../lint.md)\n")
    return "\n".join(parts)


def _severities(rule: Rule) -> str:
    head = "| profile | severity |\n|---|---|\n"
    target = rule.SEVERITIES.targets[0]
    rows = [f"| {profile} | {rule.SEVERITIES.of(profile, target) or 'off'} |" for profile in PROFILES]
    only = "" if rule.SEVERITIES.targets == TARGETS else f"\nOnly with `--target {target}`.\n"
    return head + "\n".join(rows) + "\n" + only


def _side(rule: Rule, side: Side) -> str:
    file = files_of(rule.CODE, side)[0]
    told = [finding for finding in findings_in(file) if finding.code == rule.CODE]
    lines = [f"## {side.capitalize()}\n", f"![{side}]({rule.CODE}-{side}.svg)\n"]
    settings = settings_of(rule.CODE)
    contract = settings.right_contract if side == "right" and settings.right_contract else settings.contract
    if contract is not None:
        lines.append(f"with the verbs\n\n```yaml\n{_contract(contract)}```\n")
    lines.extend(f"- `{finding.element}`: {finding.fact}. {finding.hint}" for finding in told)
    return "\n".join(lines) + ("\n" if told else "")


def _contract(contract: Contract) -> str:
    """What a contract says, as the verb files say it."""
    execution: dict[str, Any] = {"kind": "durable", "process": contract.process}
    if contract.sub_verbs:
        execution["sub_verbs"] = list(contract.sub_verbs)
    if contract.flags:
        execution["flags"] = {flag.name: _flag(flag) for flag in contract.flags}
    if contract.compensation:
        execution["compensation"] = contract.compensation
    verbs: list[dict[str, Any]] = [{"name": contract.verb, "execution": execution}]
    verbs.extend({"name": verb.name, **told} for verb in contract.verbs if (told := _promises(verb)))
    return yaml.safe_dump(verbs, sort_keys=False, default_flow_style=None, width=110)


def _flag(flag: FlagContract) -> dict[str, Any]:
    bare = FlagContract(flag.name, flag.type)
    changed = [name for name in flag.__struct_fields__ if getattr(flag, name) != getattr(bare, name)]
    return {"type": flag.type, **{name: msgspec.to_builtins(getattr(flag, name)) for name in changed}}


def _promises(verb: VerbContract) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if verb.outputs is not None:
        told["output_schema"] = {"properties": {name: {"type": "string"} for name in verb.outputs}}
    if verb.errors is not None or verb.writes_flags is not None:
        told["contract"] = {"writes_flags": list(verb.writes_flags or ()), "may_raise": list(verb.errors or ())}
    if verb.is_durable or verb.effects == "external":
        told["execution"] = {"kind": "durable"} if verb.is_durable else {"kind": "sync", "effects": "external"}
    return told


def _title(rule: Rule) -> str:
    return (rule.__doc__ or "").strip().splitlines()[0]


def picture(code: str, side: Side) -> str:
    """The model, with what the rule found marked."""
    file = files_of(code, side)[0]
    found = [finding for finding in findings_in(file) if finding.code == code]
    return draw(model_of(file), Marks(elements={finding.element: _mark(finding) for finding in found}))


def _mark(finding: Finding) -> Mark:
    return Mark(findings=(finding.code,))


def write() -> None:
    """Every page and picture, and nothing left over."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for left in FOLDER.iterdir():
        left.unlink()
    INDEX.write_text(index(), encoding="utf-8")
    for rule in RULES:
        _write(FOLDER / f"{rule.CODE}.md", page(rule))
        _write(FOLDER / f"{rule.CODE}-wrong.svg", picture(rule.CODE, "wrong"))
        _write(FOLDER / f"{rule.CODE}-right.svg", picture(rule.CODE, "right"))


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
