"""Model uploads: the text of a model file, and the file named in problems that a server reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from perdure.errors import DefinitionError


def read_model_text(path: str | Path) -> str:
    """The text of a model file in any encoding that models are read in; DefinitionError where it cannot be read."""
    from perdure.app.processes.project_models import unreadable  # noqa: PLC0415  only who brings models needs it
    from perdure.bpmn.xml.parser import text_of  # noqa: PLC0415  the same

    try:
        return text_of(Path(path).read_bytes())
    except UnicodeDecodeError as error:
        fact = "it is not in UTF-8, and names no other encoding that is read"
        raise unreadable(path, fact, "Save it as UTF-8.") from error
    except OSError as error:
        raise unreadable(path, error) from error


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """What a server finds wrong with a model names the file it came from."""
    try:
        yield
    except DefinitionError as error:
        error.problems = [replace(each, file=file) for each in error.problems]
        raise
