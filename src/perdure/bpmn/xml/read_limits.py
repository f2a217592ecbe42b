"""How much of a file we are ready to read: whatever is beyond is refused before it costs anything."""

from __future__ import annotations

MAX_BYTES = 8 * 1024 * 1024
MAX_ELEMENTS = 100_000
MAX_DEPTH = 40
"""Elements inside elements, from the root."""
MAX_ATTRIBUTES = 100
"""Attributes of one element."""
MAX_ATTRIBUTE_LENGTH = 128 * 1024
"""Characters of one attribute; element templates carry icons in them."""
MAX_TAG_BYTES = 1024 * 1024
"""Bytes of one tag or comment."""
MAX_PROBLEMS = 100
"""Problems told of one file; whoever has more is not helped by the rest."""
