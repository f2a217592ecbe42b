"""The limits of a program's text: its bytes and its tokens are counted before anything of it is read."""

from __future__ import annotations

import re
from itertools import islice

from perdure.errors import DefinitionError
from perdure.verbs.sexpr.forms import NOWHERE, Span
from perdure.verbs.sexpr.mistakes import Mistake, refuse

MOST_TOKENS = 300_000
"""Words, signs, spaces and line breaks: thirty for each of the 10,000 steps that a runbook may have."""
_SPLIT = "Split it into several programs."


def check_size(text: str, file: str, most_bytes: int) -> None:
    """Refuse a text of more bytes than are read."""
    if len(text) > most_bytes or len(text.encode("utf-8", "surrogatepass")) > most_bytes:
        raise _too_large(file, NOWHERE, f"the text is larger than {most_bytes} bytes")


def check_tokens(text: str, file: str, token: re.Pattern[str]) -> None:
    """Refuse a text of more tokens than are read, at the first one too many; no token is kept meanwhile."""
    if len(text) <= MOST_TOKENS:
        return  # a token has a character
    beyond = next(islice(token.finditer(text), MOST_TOKENS, None), None)
    if beyond is not None:
        raise _too_large(file, _place(text, beyond.start()), f"the text has more than {MOST_TOKENS:,} words and signs")


def _place(text: str, start: int) -> Span:
    return Span(start, start, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


def _too_large(file: str, place: Span, reason: str) -> DefinitionError:
    return refuse(Mistake.TOO_LARGE, file, place, reason, _SPLIT)
