"""Times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from perdure.sources import iso

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(st.integers(-(10**15), 10**17))
def test_a_time_is_written_to_the_microsecond(at: int) -> None:
    moment = EPOCH + timedelta(microseconds=at)
    assert iso(at) == moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def test_no_time_is_written_as_none() -> None:
    assert iso(None) is None
