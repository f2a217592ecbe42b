"""Model uploads: the file named in problems that a server reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from perdure.errors import DefinitionError


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """What a server finds wrong with a model names the file it came from."""
    try:
        yield
    except DefinitionError as error:
        error.problems = [replace(each, file=file) for each in error.problems]
        raise
