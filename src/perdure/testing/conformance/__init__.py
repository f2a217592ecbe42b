"""The conformance suite of engines: what every carrier of processes has to keep, run against yours.

```python
async with open_world(case.scenario) as world: ...      # a `World` of your engine: store, clock, outside world
verdict = await exercise(case, open_world)              # held, failed with reasons, or skipped: it lacks a capability
```

Cases are scenarios (`scenario_cases`) and single promises of the contract (`contract_cases`). A case names the
capabilities it needs; an engine that declares to lack one skips the case, and the verdict says which.
"""

from __future__ import annotations

from perdure.testing.conformance.case import Case as Case
from perdure.testing.conformance.case import EngineWorld as EngineWorld
from perdure.testing.conformance.case import OpenWorld as OpenWorld
from perdure.testing.conformance.case import Verdict as Verdict
from perdure.testing.conformance.case import exercise as exercise
from perdure.testing.conformance.contract_cases import contract_cases as contract_cases
from perdure.testing.conformance.scenario_cases import scenario_cases as scenario_cases
