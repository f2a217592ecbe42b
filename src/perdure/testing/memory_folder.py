"""Where files lie in memory: for stores that are thrown away, and whose machine loses no power."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM_BYTES = 1 << 30


def memory_folder(room_bytes: int = ROOM_BYTES) -> Path | None:
    """A folder in memory with so much room, if the machine has one; what is synced there is synced at once."""
    has_room = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > room_bytes
    return MEMORY if has_room else None
