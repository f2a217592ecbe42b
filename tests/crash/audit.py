"""The audit as tests use it: everything replayed, every row derived again, nothing found."""

from __future__ import annotations

from perdure.lifecycles.machine.definition_machine import LifecycleDefinitionMachine
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from perdure.processes.kernel_machines import process_machines
from perdure.processes.plan_cache import Plans
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.store.audit import verify
from perdure.store.store import Store
from perdure.testing.sandbox import quiet_driver
from perdure.testing.virtual_clock import VirtualSources


async def assert_audit_passes(url: str) -> None:
    driver = quiet_driver(url)
    await driver.open()
    try:
        machines = {
            **process_machines(Plans()),
            **{each.kind: each for each in (RunbookMachine(), LifecycleMachine(), LifecycleDefinitionMachine())},
        }
        report = await verify(Store(driver, VirtualSources()), machines, {}, dry=True)
        assert report.findings == [], report.findings[:5]
        assert report.aggregates > 0
    finally:
        await driver.close()
