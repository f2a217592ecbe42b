"""The impact of a deployment on instances of the contract profile, whose flags mirror their data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.contract_world import MODELS, begun, carrying

pytestmark = [pytest.mark.req("B8"), pytest.mark.req("O10")]


async def test_a_contract_that_is_unchanged_goes_on_and_one_with_another_id_for_its_gate_migrates(
    store_url: str, tmp_path: Path
) -> None:
    async with carrying(store_url, {}, "gate.bpmn") as sandbox:
        instance = await begun(sandbox, "approve_claim", claim={"id": "c-1", "amount": 3})
        (token,) = instance.tokens
        policies = MODELS / "policies.yaml"
        same = await sandbox.deployments.check([MODELS / "gate.bpmn"], profile="contract", policies=policies)
        assert [(each.verdict, each.examples) for each in same.processes[0].states] == [("goes_on", [instance.id])]
        changed = tmp_path / "gate.bpmn"
        text = (MODELS / "gate.bpmn").read_text(encoding="utf-8")
        changed.write_text(text.replace(f'"{token.element}"', '"renamed"'), encoding="utf-8")
        found = await sandbox.deployments.check([changed], profile="contract", policies=policies)
        (state,) = found.processes[0].states
        assert (state.verdict, state.mapping) == ("migrates", {token.element: "renamed"})
        await sandbox.processes.deploy(changed, profile="contract", policies=policies)
        await sandbox.instances.migrate(instance.id, mapping=state.mapping)
        assert [each.element for each in (await sandbox.instances.get(instance.id)).tokens] == ["renamed"]
