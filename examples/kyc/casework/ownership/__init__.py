"""Who owns an entity in the end: exact shares along all paths, circles solved and shown, gaps named. No I/O."""

from __future__ import annotations

from casework.ownership.claims import Anomaly as Anomaly
from casework.ownership.claims import Claim as Claim
from casework.ownership.claims import Party as Party
from casework.ownership.gaps import Gap as Gap
from casework.ownership.trace import THRESHOLD as THRESHOLD
from casework.ownership.trace import Officer as Officer
from casework.ownership.trace import Owner as Owner
from casework.ownership.trace import Ownership as Ownership
from casework.ownership.trace import trace as trace

__all__ = ["THRESHOLD", "Anomaly", "Claim", "Gap", "Officer", "Owner", "Ownership", "Party", "trace"]
