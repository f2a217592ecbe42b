"""Writes the generated part of `docs/reference/mcp.md` from what the tools say of themselves."""

from __future__ import annotations

from typing import Any

from perdure.access.principal import ROLES
from perdure.access.roles import OPERATIONS
from perdure.surfaces.mcp.tool import Tool
from perdure.surfaces.mcp.tool_list import every_tool
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "mcp.md"
MARK = "<!-- generated: python -m tests.surfaces.mcp.reference -->\n"


def reference() -> str:
    """Every tool: what it says, who may use it, what it takes and gives."""
    return "\n".join(_tool(tool) for tool in every_tool().values())


def _tool(tool: Tool) -> str:
    roles = [role for role in ROLES if role in OPERATIONS[tool.operation]]
    who = "every role" if len(roles) == len(ROLES) else ", ".join(roles)
    taken = _rows(tool.input_schema(), has_texts=True)
    given = ", ".join(f"`{name}`" for name in tool.output_schema()["properties"])
    return f"### `{tool.name}`\n\n{tool.text}\n\nOperation `{tool.operation}`: {who}.\n\n{taken}\nGives {given}.\n"


def _rows(schema: dict[str, Any], *, has_texts: bool) -> str:
    required = set(schema.get("required", ()))
    rows = ["| argument | type | meaning |", "|---|---|---|"]
    for name, field in schema["properties"].items():
        needed = " (needed)" if name in required else ""
        rows.append(f"| `{name}` | {_type(field)}{needed} | {field.get('description', '')} |")
    return "\n".join(rows) + "\n"


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{each}`" for each in field["enum"] if each != "")
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"] if each.get("type") != "null")
    return str(field.get("type", "any value"))


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(before + MARK + "\n" + reference(), encoding="utf-8")
