"""Errors of object stores in the platform's words: the first line of what was said, never a credential."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perdure.errors import PerdureError, StoreUnavailableError

NO_BUCKET = "NoSuchBucket"
MOST = 200
_HINTS = {
    "PermissionDeniedError": ("the credentials do not allow it", "Check the key, its secret and its rights."),
    "UnauthenticatedError": ("no credentials were accepted", "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."),
}


def is_absent(error: Exception) -> bool:
    """Whether an object is not there, as opposed to its bucket."""
    return isinstance(error, FileNotFoundError) and NO_BUCKET not in str(error)


@contextmanager
def told(place: str) -> Iterator[None]:
    """Raise errors of the object store as ours; others pass."""
    try:
        yield
    except PerdureError:
        raise
    except Exception as error:
        if not isinstance(error, FileNotFoundError) and not type(error).__module__.startswith("obstore"):
            raise
        if NO_BUCKET in str(error):
            raise _unavailable(place, "there is no such bucket", "Create the bucket first.") from error
        known = _HINTS.get(type(error).__name__)
        fact, hint = known or (_first_line(error), "Check that the endpoint answers.")
        raise _unavailable(place, fact, hint) from error


def _unavailable(place: str, fact: str, hint: str) -> StoreUnavailableError:
    return StoreUnavailableError("use", "blobs at", place, fact, hint)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(": <?xml")[0].rstrip(". ")[:MOST]
