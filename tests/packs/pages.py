"""Writes the generated part of `docs/reference/pack-yaml.md` from the keys and the codes themselves."""

from __future__ import annotations

from perdure.packs.lint import RULES
from perdure.packs.yaml_keys import PLACES
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "pack-yaml.md"
MARK = "<!-- generated: python -m tests.packs.pages -->\n"
TITLES = {
    "pack": "The file", "risk_policy": "`risk_policy`", "escalation": "An item of `risk_policy.escalations`",
    "question": "A question", "template": "A template", "step": "A step of a template",
    "section": "An item of `section_layout`", "signal": "An item of `progress_signals`",
}  # fmt: skip


def reference() -> str:
    """Every key, place by place, and every code."""
    parts = ["## Keys\n"]
    for place, keys in PLACES.items():
        parts += [f"### {TITLES[place]}\n", "| key | meaning |", "|---|---|"]
        parts += [f"| `{key}` | {meaning} |" for key, meaning in keys.items()]
        parts.append("")
    parts.append("## Lint codes\n")
    parts.append("`perdure packs lint` holds packs against the verbs they speak of. Codes are stable.\n")
    for code, rule in RULES.items():
        parts += [f"### {code}\n", f"**{rule.title}** ({rule.severity}). {rule.why}\n"]
    return "\n".join(parts)


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(before + MARK + "\n" + reference(), encoding="utf-8")
