"""How a JSON number is spelled: ECMAScript's Number-to-string, which RFC 8785 prescribes."""

from __future__ import annotations

import math

MAX_INTEGER = 2**53 - 1
"""The largest integer every JSON reader holds exactly."""


def spell(number: float) -> str:
    """The one canonical spelling of a finite double; `-0.0` is `0`."""
    if not math.isfinite(number):
        raise ValueError(f"{number} has no JSON spelling")
    if number.is_integer() and abs(number) <= MAX_INTEGER:
        return str(int(number))
    sign = "-" if number < 0 else ""
    digits, point = _digits(abs(number))
    return sign + _place(digits, point)


def _digits(number: float) -> tuple[str, int]:
    """The shortest digits that read back as this double, and where the point stands among them."""
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole) + len(fraction) - len(digits)
    return digits.rstrip("0"), len(whole) - leading_zeros + int(exponent or 0)


def _place(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
