"""Who has no workflows loads none of the code for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
{code}
found = [name for name in sys.modules if name.startswith(("perdure.workflows", "perdure.orchestration"))]
print(" ".join(found))
"""
OPEN = """
import asyncio
from perdure.testing import Sandbox

async def main():
    async with Sandbox.open() as sandbox:
        await sandbox.run_until_idle()

asyncio.run(main())
"""


@pytest.mark.parametrize("code", ["import perdure; perdure.Perdure", OPEN])
def test_a_project_without_workflows_loads_none_of_their_code(code: str) -> None:
    ran = subprocess.run([sys.executable, "-c", CODE.format(code=code)], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_the_code_of_workflows_is_seen_when_it_is_loaded() -> None:
    code = "from perdure.orchestration import Workflow"
    ran = subprocess.run([sys.executable, "-c", CODE.format(code=code)], capture_output=True, text=True, check=True)
    assert "perdure.workflows.workflow" in ran.stdout
