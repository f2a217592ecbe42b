"""Scenarios: a process tested by a YAML file on the real engine, with virtual time."""

from __future__ import annotations

from perdure.testing.scenarios.fault_variants import with_crashes as with_crashes
from perdure.testing.scenarios.fault_variants import with_duplicates as with_duplicates
from perdure.testing.scenarios.scenario import Actual as Actual
from perdure.testing.scenarios.scenario import Outcome as Outcome
from perdure.testing.scenarios.scenario import Scenario as Scenario
from perdure.testing.scenarios.scenario_loader import find_scenarios as find_scenarios
from perdure.testing.scenarios.scenario_loader import load_scenario as load_scenario
from perdure.testing.scenarios.scenario_loader import read_scenario as read_scenario
from perdure.testing.scenarios.scenario_runner import run_files as run_files
from perdure.testing.scenarios.scenario_runner import run_scenario as run_scenario
