"""Document types and rejection reasons as definitions declare them: frozen values."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import msgspec

TYPE_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
REASON_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]*/(?:\*|[a-z0-9][a-z0-9.+-]*)")
MAX_TYPE_NAME = 64
DEFAULT_MAX_BYTES = 20_000_000
"""Bytes of a blob unless its type says otherwise."""
LARGEST_BLOB = 5_000_000_000
DEFAULT_RETENTION = "P5Y"
"""Time after which the data of a rejected, expired or superseded document is erased."""
FOREVER = "forever"

Category = Literal["quality", "mismatch", "validity", "data", "format", "authenticity"]
NextAction = Literal["ask_again", "ask_for_another", "correct_data", "review", "stop"]
CATEGORIES: tuple[Category, ...] = ("quality", "mismatch", "validity", "data", "format", "authenticity")
NEXT_ACTIONS: tuple[NextAction, ...] = ("ask_again", "ask_for_another", "correct_data", "review", "stop")


class Verification(msgspec.Struct, frozen=True):
    """The people who may verify or reject a document of a type. Without groups: everybody with the right to verify."""

    groups: tuple[str, ...] = ()
    four_eyes: bool = False
    """Whoever handed a version in cannot decide on it."""
    by_verb: bool = True
    """The verbs of decisions may decide; default: unless groups or four eyes are asked for."""
    agents: bool = False


class Extraction(msgspec.Struct, frozen=True):
    """The verb that fills the extracted fields of a version; below the confidence a person checks them."""

    verb: str
    confidence: float = 0.0


class DocumentType(msgspec.Struct, frozen=True):
    """Everything declared about one type of document."""

    name: str
    description: str = ""
    data_schema: dict[str, Any] | None = None
    extracted_schema: dict[str, Any] | None = None
    media_types: tuple[str, ...] = ()
    """Media types of its blobs; none: its versions have no blob."""
    max_bytes: int = DEFAULT_MAX_BYTES
    validity: str = ""
    """A duration or business days, counted from `valid_from` of a version; empty: it stays valid without dates."""
    verification: Verification = Verification()
    retention: str = DEFAULT_RETENTION
    extraction: Extraction | None = None
    scan: str = ""
    file: str = ""
    line: int = 0

    def allows(self, media_type: str) -> bool:
        """Whether a blob of a media type may be part of a version."""
        family = media_type.partition("/")[0]
        return any(each in (media_type, f"{family}/*") for each in self.media_types)


class RejectionReason(msgspec.Struct, frozen=True):
    """A coded reason: the words for the client and for operators, and what comes next."""

    code: str
    category: Category
    client: str
    operator: str
    next_action: NextAction = "ask_again"
    retryable: bool = True
    file: str = ""
    line: int = 0


def _reason(
    code: str, category: Category, client: str, operator: str, next_action: NextAction, retryable: bool = True
) -> RejectionReason:
    return RejectionReason(code, category, client, operator, next_action, retryable)


_SHIPPED = (
    _reason("BLURRED", "quality", "The picture is not sharp enough to read. Please send a sharper one.",
            "Text or photograph cannot be read for lack of sharpness.", "ask_again"),
    _reason("INCOMPLETE", "quality", "Part of the document is missing. Please send all pages and all four corners.",
            "Pages or edges are cut off or missing.", "ask_again"),
    _reason("GLARE", "quality", "A reflection covers part of the document. Please take the picture without flash.",
            "A reflection or shadow hides data.", "ask_again"),
    _reason("WRONG_DOCUMENT", "mismatch", "This is another kind of document than the one we asked for.",
            "The document is not of the type that was asked for.", "ask_for_another"),
    _reason("WRONG_SUBJECT", "mismatch", "The document belongs to somebody else. Please send your own.",
            "Name or identity differs from the subject of the request.", "ask_for_another"),
    _reason("DATA_MISMATCH", "mismatch", "The document says something else than the details you gave us.",
            "Data of the document contradicts data on file.", "correct_data"),
    _reason("EXPIRED", "validity", "The document is no longer valid. Please send one that is.",
            "The validity of the document ended.", "ask_for_another"),
    _reason("NOT_YET_VALID", "validity", "The document is not valid yet.",
            "The validity of the document begins later.", "ask_for_another"),
    _reason("TOO_OLD", "validity", "The document is too old. Please send a more recent one.",
            "The document was issued too long ago for its purpose.", "ask_for_another"),
    _reason("MISSING_DATA", "data", "The document lacks details that we need.",
            "A field that the type requires is missing.", "correct_data"),
    _reason("INVALID_DATA", "data", "Some details of the document cannot be right. Please check them.",
            "A field fails a check, as a number fails its check digit.", "correct_data"),
    _reason("UNSIGNED", "data", "The document is not signed. Please sign it and send it again.",
            "A signature that the type requires is missing.", "ask_again"),
    _reason("UNREADABLE_FILE", "format", "We cannot open the file. Please send it again.",
            "The file is damaged, protected by a password or empty.", "ask_again"),
    _reason("WRONG_FORMAT", "format", "We cannot accept this kind of file. Please send a PDF or a picture.",
            "The media type is not accepted for the type.", "ask_again"),
    _reason("MALWARE", "format", "Our scanner refused the file. Please send another one.",
            "The scan found something harmful in the file.", "review"),
    _reason("SUSPECTED_FORGERY", "authenticity", "We cannot accept this document. We will contact you.",
            "Signs of forgery or manipulation.", "stop", retryable=False),
    _reason("UNVERIFIABLE", "authenticity", "We could not confirm the document with its issuer.",
            "The issuer or register does not confirm the document.", "review"),
)  # fmt: skip
SHIPPED_REASONS: Final[dict[str, RejectionReason]] = {each.code: each for each in _SHIPPED}
"""The reasons that every project has; a project may declare one of the same code in its own words."""
