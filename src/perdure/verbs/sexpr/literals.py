"""Strings and numbers: their source spelling to values and back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal

# Beyond these an integer is no longer exact in canonical JSON.
LARGEST_INTEGER = 2**53 - 1
_LONGEST_NUMBER = 400
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?\Z")
_EXPONENT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?[eE][+-]?[0-9]{1,2}\Z")
_ESCAPE = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<unit>[0-9a-fA-F]{4})"
    r"|\\(?P<letter>[^\n\r])"
)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}
_SPELLED = {value: f"\\{letter}" for letter, value in _LETTERS.items()}
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})


def looks_like_number(word: str) -> bool:
    return re.match(r"[+-]?\.?[0-9]", word) is not None


def number(word: str) -> int | float | None:
    """The number written, or None when it is not written as one."""
    match = _NUMBER.match(word)
    if match is None:
        return None
    if len(word) > _LONGEST_NUMBER:
        return float("inf")
    return float(word) if match[1] else int(word)


def is_exact(word: str, value: int | float) -> bool:
    """Whether the value survives as JSON exactly as it was written."""
    if isinstance(value, int):
        return abs(value) <= LARGEST_INTEGER
    return value not in (float("inf"), float("-inf")) and Decimal(word) == Decimal(repr(value))


def number_advice(word: str) -> str:
    """What the writer of a malformed number probably meant."""
    plain = word.replace("_", "").removeprefix("+")
    if plain != word and number(plain) is not None:
        return f"Write {plain}."
    if _EXPONENT.match(word):
        return f"Exponents are not read; write {format(Decimal(word), 'f')}."
    if word.startswith((".", "-.")) or word.endswith("."):
        return "A decimal has digits on both sides of the point, as in 0.5."
    if re.match(r"-?0[0-9]", word):
        return f'A number has no leading zeros; if it is an identifier, put it in quotes: "{word[:40]}".'
    return 'Numbers are written like 7, -7 or 7.25; if it is text, put it in double quotes: "like this".'


def written_number(value: int | float) -> str:
    """The spelling that reads back as the same number; the caller has checked that there is one."""
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"


def string(raw: str, complain: Callable[[int, str], None]) -> str:
    """The text between the quotes of `raw`; `complain` hears the offset and text of each escape unknown."""
    if "\\" not in raw:
        return raw[1:-1]
    return _ESCAPE.sub(lambda match: _unescaped(match, complain), raw[:-1])[1:]


def _unescaped(match: re.Match[str], complain: Callable[[int, str], None]) -> str:
    if match["high"]:
        return chr(0x10000 + ((int(match["high"], 16) & 0x3FF) << 10) + (int(match["low"], 16) & 0x3FF))
    if match["unit"] and not 0xD800 <= int(match["unit"], 16) <= 0xDFFF:
        return chr(int(match["unit"], 16))
    if match["letter"] in _LETTERS:
        return _LETTERS[match["letter"]]
    complain(match.start(), match[0])
    return ""


def written_string(text: str) -> str:
    """`text` in quotes; characters that cannot be seen are escaped, so that what is shown is what is there."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _SPELLED:
        return _SPELLED[character]
    if unicodedata.category(character) not in _UNSEEN:
        return character
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
