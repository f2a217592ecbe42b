"""Model files as a server takes them."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from perdure.errors import DefinitionError, Problem

_DECLARED = re.compile(rb"""\A<\?xml[^>]{1,200}encoding=["'](iso-8859-1|us-ascii)["']""", re.IGNORECASE)


def read_model_text(path: str | Path) -> str:
    """The text of a model file in any encoding that models are read in; DefinitionError where it cannot be read."""
    try:
        data = Path(path).read_bytes()
        declared = _DECLARED.match(data)
        if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            return data.decode("utf-16")
        return data.decode(declared[1].decode() if declared is not None else "utf-8-sig")
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
