"""Model files as a server takes them."""

from __future__ import annotations

from pathlib import Path

from perdure.errors import DefinitionError, Problem


def read_model_text(path: str | Path) -> str:
    """The text of a model file; DefinitionError where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError([Problem("model.unreadable", str(path), 1, 1, "", str(error))]) from error
