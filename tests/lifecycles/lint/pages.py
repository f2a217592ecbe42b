"""Writes the reference of lifecycles from its schema and rules: `python -m tests.lifecycles.lint.pages`."""

from __future__ import annotations

from perdure.lifecycles.guards import BUILT_IN_GUARDS, GuardKind
from perdure.lifecycles.lint import RULES
from perdure.lifecycles.lint.rule import Rule
from perdure.lifecycles.yaml_keys import COMBINED_KEYS, PLACES
from tests.house.tree import ROOT
from tests.lifecycles.lint.lint_models import MODELS

LINT = ROOT / "docs" / "reference" / "lifecycle-lint.md"
YAML = ROOT / "docs" / "reference" / "lifecycle-yaml.md"
GENERATED = "<!-- generated: python -m tests.lifecycles.lint.pages -->\n"
TITLES = {
    "lifecycle": "The file",
    "state": "A state",
    "transition": "A transition",
    "requirement": "A requirement",
    "on_fail": "`on_fail`",
    "blocker": "A blocker",
    "resolution": "A resolution as a mapping",
    "action": "An action",
    "trigger": "A trigger",
    "condition": "A condition of a trigger",
}


def lint_page() -> str:
    parts = [
        f"# Lint codes of lifecycles\n\n{GENERATED}",
        "`perdure lifecycles lint PATH…` reads lifecycle files and says what is wrong with them. Deployment uses the\n"
        "same rules: a lifecycle with errors is refused. Codes are stable.\n",
    ]
    parts += [_rule(rule) for rule in RULES]
    return "\n".join(parts)


def _rule(rule: Rule) -> str:
    wrong, right = (_model(rule.CODE, side) for side in ("wrong", "right"))
    return f"## {rule.CODE} {rule.NAME}\n\n{(rule.__doc__ or '').strip()}\n\nWrong:\n\n{wrong}\nRight:\n\n{right}"


def _model(code: str, side: str) -> str:
    return f"```yaml\n{(MODELS / code / f'{side}.yaml').read_text()}```\n"


def yaml_page() -> str:
    parts = [
        f"# Lifecycle YAML\n\n{GENERATED}",
        "A file holds one lifecycle, or several separated by `---`. A key that is not listed here is an error with\n"
        "its file, line and column. Requirements stand in their state or under `requirements` by state; both mean\n"
        "the same and give the same content hash.\n",
        "```yaml\n" + EXAMPLE + "```\n",
    ]
    for place, title in TITLES.items():
        rows = "\n".join(f"| `{key}` | {text} |" for key, text in PLACES[place].items())
        parts.append(f"## {title}\n\n| key | meaning |\n|---|---|\n{rows}\n")
    rows = "\n".join(f"| `{key}` | {text} |" for key, text in COMBINED_KEYS.items())
    parts.append(
        "## Guards\n\nA guard is a mapping with a `type` and the parameters of its kind, or one of these around other "
        f"guards:\n\n| key | meaning |\n|---|---|\n{rows}\n\n"
        "A text `$name` stands for a value of the instance's context; `$subject`, `$instance_id` and `$lifecycle` are "
        "always\nthere. A guard whose names or facts cannot be looked at is closed, and so is `not` around it.\n"
    )
    parts += [_kind(kind) for kind in BUILT_IN_GUARDS]
    return "\n".join(parts)


def _kind(kind: GuardKind) -> str:
    rows = []
    for each in kind.parameters:
        default = "required" if each.is_required else f"`{each.default}`" if each.default is not None else ""
        choices = f": {', '.join(f'`{choice}`' for choice in each.choices)}" if each.choices else ""
        rows.append(f"| `{each.name}` | {each.type} | {default} | {each.description}{choices} |")
    also = f" Also written {', '.join(f'`{name}`' for name in kind.aliases)}." if kind.aliases else ""
    table = "\n".join(rows)
    return (
        f"### {kind.name}\n\n{kind.description.strip()}{also} Its blocker is a `{kind.blocker}` unless another type is "
        f"given.\n\n```yaml\n{kind.example}\n```\n\n{HEAD}{table}\n"
    )


HEAD = "| parameter | type | default | meaning |\n|---|---|---|---|\n"
EXAMPLE = """lifecycle: onboarding
version: 1
states:
  INTAKE:
    timeout_hours: 720
    requirements:
      - type: document_exists
        document_type: passport
        on_fail:
          blocker:
            type: MissingDocument
            resolution: "(document.solicit :subject-entity-id $subject :document-type passport)"
            auto: true
            expires: P10D
  REVIEW:
  APPROVED: {terminal: true}
  REJECTED: {terminal: true}
transitions:
  - {from: INTAKE, to: REVIEW}
  - {from: INTAKE, to: REJECTED, timeout: true}
  - {from: REVIEW, to: APPROVED, manual: true, role: compliance, reason: required, four_eyes: true}
  - {from: REVIEW, to: REJECTED, manual: true, reason: required}
"""


if __name__ == "__main__":
    LINT.write_text(lint_page())
    YAML.write_text(yaml_page())
