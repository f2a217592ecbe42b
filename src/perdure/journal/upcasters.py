"""Old forms of states and records are lifted by pure steps; `apply` knows the newest only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from perdure.errors import UnreadableFormError


class Versioned(Protocol):
    """What is stored with the version of its form."""

    @property
    def version(self) -> int: ...


F = TypeVar("F", bound=Versioned)


class Upcaster(NamedTuple):
    """Turns the plain form of one version into that of the next; element 0 of a form is its version."""

    source: int
    lift: Callable[[list[Any]], list[Any]]


def grown(source: int) -> Upcaster:
    """To the next version, where that has more fields at its ends and means the same without them."""
    return Upcaster(source, lambda form: [source + 1, *form[1:]])


def read_form(data: bytes, decoder: msgspec.msgpack.Decoder[F], target: int, upcasters: tuple[Upcaster, ...]) -> F:
    """The value behind stored bytes, lifted where they are old; UnreadableFormError for whatever is no such form."""
    trouble = ""
    try:
        value = decoder.decode(data)
    except (ValueError, RecursionError) as error:
        value, trouble = None, f"{type(error).__name__}: {error}"
    if value is not None and value.version == target:
        return value
    form = _plain(data)
    if form[0] == target:
        raise _unreadable(target, f"its bytes are not of that version ({trouble})")
    try:
        return decoder.decode(msgspec.msgpack.encode(lift(form, target, upcasters)))
    except UnreadableFormError:
        raise
    except Exception as error:  # an upcaster was written for whole forms, and damaged bytes can be anything
        raise _unreadable(form[0], f"lifting it gave {type(error).__name__} ({error})") from error


def lift(form: list[Any], target: int, upcasters: tuple[Upcaster, ...]) -> list[Any]:
    """The form at `target`, one version at a time; a form from the future is refused."""
    steps = {upcaster.source: upcaster.lift for upcaster in upcasters}
    while form[0] != target:
        step = steps.get(form[0])
        if step is None:
            raise _unreadable(
                form[0], f"this release knows versions up to {target}", "Upgrade to the release that wrote it."
            )
        form = step(form)
    return form


def _plain(data: bytes) -> list[Any]:
    try:
        form = msgspec.msgpack.decode(data)
    except (ValueError, RecursionError, TypeError) as error:
        raise _unreadable("?", f"its bytes cannot be read ({type(error).__name__}: {error})") from error
    if not isinstance(form, list) or not form or type(form[0]) is not int:
        raise _unreadable("?", "its bytes do not begin with a version")
    return form


def _unreadable(version: object, fact: str, hint: str = "") -> UnreadableFormError:
    return UnreadableFormError("read", "stored form of version", str(version), fact[:300], hint)
