"""Words for clients: kinds of files, sizes, days and refusals as people say them."""

from __future__ import annotations

from perdure.errors import PerdureError, RejectedError
from perdure.surfaces.http.problem_details import RefusedRequest

KINDS = {
    "image/jpeg": "a photo (JPEG)",
    "image/png": "a picture (PNG)",
    "image/heic": "a photo (HEIC)",
    "image/webp": "a picture (WebP)",
    "image/tiff": "a scan (TIFF)",
    "application/pdf": "a PDF",
    "text/*": "a text file",
    "text/plain": "a text file",
    "image/*": "a picture",
    "application/json": "your answers",
}
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
AGAIN = "Please try again in a moment."


def kind_text(media_type: str) -> str:
    """A kind of file: "a PDF", "a photo (JPEG)"."""
    return KINDS.get(media_type) or f"a file of type {media_type}"


def kinds_text(media_types: list[str]) -> str:
    """Kinds of files in a row: "a photo (JPEG), a picture (PNG) or a PDF"."""
    kinds = list(dict.fromkeys(map(kind_text, media_types)))
    return kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} or {kinds[-1]}" if kinds else "any file"


def size_text(size: int) -> str:
    """A size as people say it: "12 MB"."""
    for unit, bytes in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes:
            return f"{size / bytes:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"


def day_text(moment: str) -> str:
    """The day of a moment: "28 November 2026"."""
    year, month, day = moment[:10].split("-")
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}"


def refusal_text(error: Exception) -> str:
    """The reason why something was not taken, without a word of what is inside."""
    if isinstance(error, RejectedError) and error.rejection.code == "invalid":
        return f"We could not take this: {error.rejection.fact}. {error.rejection.hint}".strip()
    if isinstance(error, RejectedError) and error.rejection.code == "wrong_state":
        return f"We could not take this: {error.rejection.fact}."
    if isinstance(error, RefusedRequest) and error.status == 422:
        return "Please choose a file first."
    if isinstance(error, PerdureError):
        return f"We could not take this. {AGAIN}"
    return f"Something went wrong. {AGAIN}"
