"""Bounds of parameters in routes that are not of the table."""

from __future__ import annotations

from typing import Annotated

from litestar.params import Parameter

Word = Annotated[str, Parameter(max_length=500)]
Long = Annotated[str, Parameter(max_length=4000)]
