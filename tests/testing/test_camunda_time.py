"""The clock of a broker in tests."""

from __future__ import annotations

import pytest

from perdure.errors import InvariantBroken
from perdure.sources import SECOND, SystemSources
from perdure.testing.scenarios.camunda_time import BrokerTime


def test_a_time_that_a_broker_would_begin_after_when_it_is_killed_is_refused() -> None:
    with pytest.raises(InvariantBroken, match="not ahead of the machine's"):
        BrokerTime("http://127.0.0.1:1/v2", SystemSources().now() - SECOND)
