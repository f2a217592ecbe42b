"""Plays a scenario of a sketch: on the engine."""

from __future__ import annotations

from pathlib import Path

from perdure.bpmn.xml import write_model
from perdure.testing.scenarios import Outcome, read_scenario, run_scenario
from tests.scenarios.sketch import sketches


async def played(folder: Path, sketch: str, scenario: str, verbs: str = "", store: str = "") -> Outcome:
    """How it goes; `scenario` says everything but the model, `verbs` are declared beside it."""
    [model] = sketches(f"== p\n{sketch}").values()
    (folder / "p.bpmn").write_text(write_model(model), encoding="utf-8")
    if verbs:
        (folder / "verbs.yaml").write_text(verbs, encoding="utf-8")
    read = read_scenario(f"model: p.bpmn\n{scenario}", "drawn.yaml", folder)
    return await run_scenario(read, store)
