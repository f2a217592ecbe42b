"""Model files as a server takes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from perdure.errors import DefinitionError, Problem


def read_model_text(path: str | Path) -> str:
    """The text of a model file; DefinitionError where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError([Problem("model.unreadable", str(path), 1, 1, "", str(error))]) from error


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """What a server finds wrong with a model names the file it came from."""
    try:
        yield
    except DefinitionError as error:
        error.problems = [replace(each, file=file) for each in error.problems]
        raise
