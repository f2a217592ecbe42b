"""Scenarios: a process tested by a YAML file on the real engine, with virtual time."""

from __future__ import annotations

from perdure.testing.scenarios.loading import find_scenarios as find_scenarios
from perdure.testing.scenarios.loading import load_scenario as load_scenario
from perdure.testing.scenarios.loading import read_scenario as read_scenario
from perdure.testing.scenarios.running import run_files as run_files
from perdure.testing.scenarios.running import run_scenario as run_scenario
from perdure.testing.scenarios.values import Actual as Actual
from perdure.testing.scenarios.values import Outcome as Outcome
from perdure.testing.scenarios.values import Scenario as Scenario
from perdure.testing.scenarios.variants import with_crashes as with_crashes
from perdure.testing.scenarios.variants import with_duplicates as with_duplicates
