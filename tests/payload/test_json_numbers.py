"""Numbers are spelled as ECMAScript spells them: the RFC's samples, the published sequence, the reference, node."""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from itertools import islice

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.payload import canonical
from perdure.payload.json_numbers import spell

pytestmark = pytest.mark.req("V7")

APPENDIX_B = [
    (0x0000000000000000, "0"),
    (0x8000000000000000, "0"),
    (0x0000000000000001, "5e-324"),
    (0x8000000000000001, "-5e-324"),
    (0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"),
    (0xFFEFFFFFFFFFFFFF, "-1.7976931348623157e+308"),
    (0x4340000000000000, "9007199254740992"),
    (0xC340000000000000, "-9007199254740992"),
    (0x4430000000000000, "295147905179352830000"),
    (0x44B52D02C7E14AF5, "9.999999999999997e+22"),
    (0x44B52D02C7E14AF6, "1e+23"),
    (0x44B52D02C7E14AF7, "1.0000000000000001e+23"),
    (0x444B1AE4D6E2EF4E, "999999999999999700000"),
    (0x444B1AE4D6E2EF4F, "999999999999999900000"),
    (0x444B1AE4D6E2EF50, "1e+21"),
    (0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"),
    (0x3EB0C6F7A0B5ED8D, "0.000001"),
    (0x41B3DE4355555553, "333333333.3333332"),
    (0x41B3DE4355555554, "333333333.33333325"),
    (0x41B3DE4355555555, "333333333.3333333"),
    (0x41B3DE4355555556, "333333333.3333334"),
    (0x41B3DE4355555557, "333333333.33333343"),
    (0xBECBF647612F3696, "-0.0000033333333333333333"),
    (0x43143FF3C1CB0959, "1424953923781206.2"),
]

# fmt: off
THIRDS = [
    3.3333333333333335e21, 3.333333333333333e20, 3.3333333333333336e19, 3.333333333333334e18, 3.333333333333334e17,
    3.333333333333334e16, 3333333333333334.0, 333333333333333.4, 33333333333333.344, 3333333333333.334,
    333333333333.33344, 33333333333.33334, 3333333333.333334, 333333333.3333334, 33333333.333333336,
    3333333.3333333335, 333333.3333333333, 33333.333333333336, 3333.333333333333, 333.3333333333333,
    33.333333333333336, 3.3333333333333335, 0.3333333333333333, 0.03333333333333333, 0.0033333333333333335,
    0.0003333333333333333, 3.3333333333333335e-05, 3.3333333333333333e-06, 3.3333333333333335e-07,
    3.3333333333333334e-08, 3.3333333333333334e-09, 3.333333333333333e-10, 3.3333333333333335e-11,
    3.333333333333333e-12, 3.3333333333333334e-13, 3.3333333333333334e-14, 3.3333333333333332e-15,
    3.333333333333333e-16, 3.3333333333333335e-17, 3.3333333333333333e-18, 3.3333333333333334e-19,
    3.333333333333333e-20, 3.3333333333333333e-21, 3.333333333333333e-22, 3.3333333333333333e-23,
    3.3333333333333334e-24, 3.3333333333333335e-25, 3.333333333333333e-26, 3.333333333333333e-27,
    3.3333333333333338e-28,
]
EDGES = [
    10.0, 5.0, 0.5, 0.05, 0.005, 0.0005, 5e-05, 5e-06, 5e-07, 5e-08, 5e-09, 5.06e-06, 5.006e-06, 5.0006e-06,
    5.00006e-06, 5.000006e-06, 5.0000006e-06, 5.00000006e-06, 5.000000006e-06, 5.0000000006e-06, 5.00000000006e-06,
    5.000000000006e-06, 5.0000000000006e-06, 5.00000000000006e-06, 5.000000000000006e-06, 5e-06, 1.0, -1.0,
    -0.9999999999999993, -0.9999999999999994, 0.9999999999999993, 0.9999999999999994, 0.9999999999999996,
    0.9999999999999998, -0.9999999999999999, -0.9999999999999999, 0.9999999999999999, 0.9999999999999999,
    0.29999999999999993, 0.3, 0.30000000000000004, 2.2250738585072014e-308, 2.2250738585072e-308,
    2.225073858507201e-308, 1.7976931348623157e308, -1.7976931348623157e308, 9007199254740992.0, -9007199254740992.0,
    2.9514790517935283e20, 9.999999999999997e22, 1e23, 1.0000000000000001e23, 9.999999999999997e20,
    9.999999999999999e20, 1e21, 9.999999999999997e-07, 1e-06, 333333333.3333332, 333333333.33333325,
    333333333.3333333, 333333333.3333334, 333333333.33333343, -3.3333333333333333e-06, 1424953923781206.2,
]
# fmt: on

PUBLISHED = [
    (1_000, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687"),
    (10_000, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"),
    (100_000, "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7"),
]


NODE_SCRIPT = """
const lines = require("fs").readFileSync(0, "utf8").split("\\n")
const view = new DataView(new ArrayBuffer(8))
const spell = (hex) => { view.setBigUint64(0, BigInt("0x" + hex)); return String(view.getFloat64(0)) }
console.log(JSON.stringify(lines.map(spell)))
"""


def double(bits: int) -> float:
    number: float = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    return number


def bits_of(number: float) -> int:
    return int.from_bytes(struct.pack(">d", number), "big")


def published_sequence() -> Iterator[float]:
    """The published sequence: chosen numbers, 2,000 neighbours of the smallest normal, then a chain of SHA-256."""
    yield from (0.0, -0.0, 5e-324, -5e-324)
    yield from (-third for third in THIRDS)
    yield from THIRDS
    yield from EDGES
    yield from (double(0x0010000000000000 + step) for step in range(2000))
    block = bytes(32)
    while True:
        block = hashlib.sha256(block).digest()
        yield from (number for number in struct.unpack("<4d", block) if math.isfinite(number) and number != 0)


@pytest.mark.parametrize(("bits", "spelling"), APPENDIX_B)
def test_the_samples_of_the_rfc_are_spelled_as_printed_there(bits: int, spelling: str) -> None:
    assert spell(double(bits)) == spelling
    assert canonical([double(bits)]) == f"[{spelling}]".encode()


@pytest.mark.parametrize("bits", [0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000])
def test_what_is_not_finite_has_no_spelling(bits: int) -> None:
    with pytest.raises(ValueError, match="no JSON spelling"):
        spell(double(bits))


def test_the_published_number_sequence_gives_the_published_checksums() -> None:
    checksum = hashlib.sha256()
    numbers = published_sequence()
    done = 0
    for lines, expected in PUBLISHED:
        for number in islice(numbers, lines - done):
            checksum.update(f"{bits_of(number):x},{spell(number)}\n".encode())
        done = lines
        assert checksum.hexdigest() == expected, f"after {lines} lines"


def test_the_canonical_form_spells_the_published_numbers_one_by_one() -> None:
    for number in islice(published_sequence(), 5_000):
        assert canonical([number, "1.0,"]) == f'[{spell(number)},"1.0,"]'.encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None, max_examples=500)
def test_any_double_is_spelled_as_the_reference_spells_it(number: float) -> None:
    assert spell(number).encode() == rfc8785.dumps(number)
    assert canonical({"n": number}) == rfc8785.dumps({"n": number})


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None, max_examples=300)
def test_a_spelling_reads_back_as_the_same_double(number: float) -> None:
    assert float(spell(number)) == number


def seeded_doubles(count: int) -> list[float]:
    source = random.Random(8785)
    wild = (double(source.getrandbits(64)) for _ in range(count))
    tame = (round(source.uniform(-1e6, 1e6), source.randrange(8)) for _ in range(count // 2))
    return [number for number in (*tame, *wild) if math.isfinite(number)][:count]


def test_ten_thousand_doubles_are_spelled_as_node_spells_them() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on PATH: the comparison with a real ECMAScript engine did not run")
    numbers = seeded_doubles(10_000)
    hexes = "\n".join(f"{bits_of(number):016x}" for number in numbers)
    answer = subprocess.run(
        [node, "-e", NODE_SCRIPT], input=hexes, capture_output=True, text=True, check=True, timeout=60
    )
    assert [spell(number) for number in numbers] == json.loads(answer.stdout)
