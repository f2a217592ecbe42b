"""References to documents: `document://tenant/id` and `version://tenant/id/number`, for `call.resolve`.

A reference gives names, data and extracted fields as JSON; with `/content` behind it, the bytes of the file. Each is a
read of content: the caller behind the call must have the right to it, and the journal of the document keeps who read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.documents.caller_reach import CallerReach
from perdure.app.documents.documents import Documents
from perdure.journal import Origin
from perdure.verbs.references import UnresolvableError, Wanted

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

CONTENT = "content"
SCHEMES = ("document", "version")


class DocumentReferences:
    """Resolves references of both schemes."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime, self._reach = runtime, CallerReach(runtime)

    async def __call__(self, wanted: Wanted) -> Any:
        tenant, _, place = wanted.place.partition("/")
        id, *words = place.split("/")
        has_content = bool(words) and words[-1] == CONTENT
        numbers = words[:-1] if has_content else words
        is_version = wanted.uri.startswith("version://")
        if tenant != wanted.tenant or len(numbers) != int(is_version) or not all(each.isdecimal() for each in numbers):
            hint = "Write document://tenant/id or version://tenant/id/number, perhaps with /content behind it."
            raise UnresolvableError("resolve", "reference", wanted.uri[:200], "it names no document here", hint)
        await self._reach.check(wanted)
        version = int(numbers[0]) if numbers else None
        documents = Documents(self._runtime, Origin(wanted.tenant, wanted.principal))
        what = await documents.purpose(id, wanted.verb)
        if has_content:
            return await self._content(documents, wanted, id, version, what)
        return msgspec.to_builtins(await documents.content(id, version, what=what))

    @staticmethod
    async def _content(documents: Documents, wanted: Wanted, id: str, version: int | None, what: str) -> bytes:
        _, blob, content = await documents.download(id, version, what=what)
        if blob.size > wanted.max_bytes:
            fact = f"it has {blob.size:,} bytes of at most {wanted.max_bytes:,}"
            raise UnresolvableError("resolve", "reference", wanted.uri[:200], fact, "Raise max_bytes of its resolver.")
        return b"".join([part async for part in content])
