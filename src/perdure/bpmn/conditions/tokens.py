"""Condition texts cut into words: names, strings, integers and signs, each with where it stands."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

WordKind = Literal["name", "string", "integer", "sign", "other", "end"]


class Word(msgspec.Struct, frozen=True):
    """One word of a condition; `text` of a string is its value, without quotes and escapes."""

    kind: WordKind
    text: str
    offset: int


_WORD = re.compile(
    r"""(?P<space>\s+)
    |(?P<name>[^\W\d]\w*)
    |(?P<other>\d+\.\d[\w.]*|\d+[^\W\d]\w*)
    |(?P<integer>\d+)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<sign>\.\.|==|!=|<>|<=|>=|&&|\|\||[=<>!()\[\],+*/.^?:{}%-]|\*\*)
    |(?P<rest>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_UNSAFE = re.compile(r'["\\\x00-\x1f\x7f\ud800-\udfff\u2028\u2029]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def words_of(text: str, start: int, end: int) -> list[Word]:
    """The words between two offsets of a text, closed by an `end` word; never raises."""
    words = [word for match in _WORD.finditer(text, start, end) if (word := _word(match)) is not None]
    return [*words, Word("end", "", end)]


def quoted(text: str) -> str:
    """The text as a literal that reads back as the same text."""
    return f'"{_UNSAFE.sub(_escape, text)}"'


def _word(match: re.Match[str]) -> Word | None:
    offset, text = match.start(), match.group()
    match match.lastgroup:
        case "space":
            return None
        case "name":
            return Word("name", text, offset)
        case "integer":
            return Word("integer", text, offset)
        case "string":
            return Word("string", _ESCAPE.sub(_meaning, text[1:-1]), offset)
        case "sign":
            return Word("sign", text, offset)
        case _:
            return Word("other", text, offset)


def _meaning(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    return _ESCAPES.get(escaped, escaped)


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match.group()) or f"\\u{ord(match.group()):04x}"
