"""Where the example looks things up: the folder of recorded data, unless the environment names another place."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"
FOLDER_VARIABLE = "KYC_DATA"
GLEIF_VARIABLE = "KYC_GLEIF"
GLEIF_API = "https://api.gleif.org/api/v1"


def data_folder() -> Path:
    """The folder with what registers, Bloomberg and screening say."""
    return Path(os.environ.get(FOLDER_VARIABLE) or DATA)


def gleif_place() -> str:
    """The address of GLEIF's API or of something that speaks like it; a folder of recordings unless one is set."""
    return os.environ.get(GLEIF_VARIABLE) or str(data_folder() / "gleif")


def read(name: str) -> Any:
    """A recorded file by its name below the data folder."""
    return _parsed(data_folder() / name)


@lru_cache(32)
def _parsed(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
