"""Commands for documents: hand in, decide, find, read, erase."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.errors import StoreUnavailableError
from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.progress_bar import progress_bar
from perdure.surfaces.cli.project_context import load_project, make_store, open_store
from perdure.surfaces.cli.remote_server import server_of

if TYPE_CHECKING:
    from perdure.app.documents.views import (
        BlobView,
        DocumentItem,
        DocumentTypeView,
        DocumentView,
        ReasonView,
        VersionView,
    )  # fmt: skip
    from perdure.app.operations.requests import RequestView

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="The document's id.", show_default=False)]
VersionOption = Annotated[int, typer.Option("--version", metavar="N", help="The version that was looked at.")]
NoteOption = Annotated[str, typer.Option("--note", help="Words for whoever looks at the decision later.")]
DataOption = Annotated[str, typer.Option("--data", metavar="JSON", help="Structured data.")]
FileOption = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="A file to hand in.")]
FromOption = Annotated[str, typer.Option("--valid-from", metavar="DATE", help="As 2026-05-01.")]
ToOption = Annotated[str, typer.Option("--valid-to", metavar="DATE", help="The day on which it expires.")]
RequestKey = Annotated[str, typer.Argument(metavar="KEY", help="A correlation id.", show_default=False)]
RequestOption = Annotated[
    str, typer.Option("--request", metavar="KEY", help="The correlation id under which it was asked for.")
]
SourceOption = Annotated[str, typer.Option("--source", metavar="WORD", help="Where it came from.")]
SourceRefOption = Annotated[str, typer.Option("--source-ref", metavar="ID", help="What it is called there.")]
SubjectOption = Annotated[str, typer.Option("--subject", metavar="ID", help="Whoever or whatever it is about.")]


async def list_documents(
    settings: Settings,
    subject: SubjectOption = "",
    type: Annotated[str, typer.Option("--type", help="Only of this type.")] = "",
    status: Annotated[str, typer.Option("--status", help="Only in this status.")] = "",
    text: Annotated[str, typer.Option("--text", metavar="WORDS", help="Words to look for: anna schm* -draft.")] = "",
    request: RequestOption = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 50,
) -> None:
    """List documents, newest first, by subject, type, status and words."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.documents.find(
            subject=subject, type=type, status=status, text=text, correlation_id=request, limit=limit
        )
    output.show(settings, found, lambda: _items(found))


async def show(settings: Settings, id: DocumentId) -> None:
    """Show a document with its versions, without their content."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.documents.get(id)
    output.show(settings, view, lambda: _picture(view))


async def create(
    settings: Settings,
    type: Annotated[str, typer.Argument(metavar="TYPE", help="A declared document type.", show_default=False)],
    subject: SubjectOption = "",
    data: DataOption = "",
    file: FileOption = None,
    valid_from: FromOption = "",
    valid_to: ToOption = "",
    request: RequestOption = "",
    parent: Annotated[str, typer.Option("--parent", metavar="ID", help="The document it belongs to.")] = "",
    source: SourceOption = "upload",
    source_ref: SourceRefOption = "",
) -> None:
    """Create a document, with a first version where data or a file is given."""
    if not server_of(settings):
        await make_store(load_project(settings).store)
    async with open_store(settings, "caller") as perdure:
        content = await _content(settings, perdure, data, file, valid_from, valid_to)
        view = await perdure.documents.create(
            type, subject, parent=parent, correlation_id=request, source=source, source_ref=source_ref, **content
        )
    output.show(settings, view, lambda: _picture(view))


async def receive(
    settings: Settings,
    id: DocumentId,
    data: DataOption = "",
    file: FileOption = None,
    valid_from: FromOption = "",
    valid_to: ToOption = "",
    request: RequestOption = "",
    source: SourceOption = "upload",
    source_ref: SourceRefOption = "",
) -> None:
    """Add a version to a document: structured data, a file, or both."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        content = await _content(settings, perdure, data, file, valid_from, valid_to)
        view = await perdure.documents.receive(
            id, correlation_id=request, source=source, source_ref=source_ref, **content
        )
    output.show(settings, view, lambda: _picture(view))


async def verify(settings: Settings, id: DocumentId, version: VersionOption, note: NoteOption = "") -> None:
    """Take a version as evidence."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        view = await perdure.documents.verify(id, version, note)
    output.show(settings, view, lambda: _picture(view))


async def reject(
    settings: Settings,
    id: DocumentId,
    version: VersionOption,
    reason: Annotated[str, typer.Option("--reason", metavar="CODE", help="See `perdure documents reasons`.")],
    note: NoteOption = "",
) -> None:
    """Refuse a version, or take its verification back, for a coded reason."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        view = await perdure.documents.reject(id, version, reason, note)
    output.show(settings, view, lambda: _picture(view))


async def supersede(
    settings: Settings,
    id: DocumentId,
    by: Annotated[str, typer.Option("--by", metavar="ID", help="The document that takes its place.")],
    note: NoteOption = "",
) -> None:
    """Let another document of the same subject and type take the place of this one."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        view = await perdure.documents.supersede(id, by, note)
    output.show(settings, view, lambda: _picture(view))


async def waive(
    settings: Settings,
    type: Annotated[str, typer.Argument(metavar="TYPE", help="A declared document type.", show_default=False)],
    subject: SubjectOption,
    reason: Annotated[str, typer.Option("--reason", help="Why; the journal keeps it.")],
    valid_to: ToOption = "",
    request: RequestOption = "",
) -> None:
    """Do without a document, for a reason; under four eyes, once a second person says the same."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        view = await perdure.documents.waive(type, subject, reason, valid_to=valid_to, correlation_id=request)
    output.show(settings, view, lambda: _picture(view))


async def request(settings: Settings, key: RequestKey) -> None:
    """Show what a client is asked for under a correlation id, what was sent and what came."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.documents.request(key)
    output.show(settings, view, lambda: _asked(view))


async def token(
    settings: Settings,
    key: RequestKey,
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="For how long it works at most.")] = 14,
) -> None:
    """Make a token with which a client sees and answers one request; a server signs it."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        made = await perdure.documents.request_token(key, expires_seconds=days * 86_400)
    address = f"{server_of(settings).rstrip('/')}/ask/{made.token}"
    output.show(settings, made, lambda: f"{address}\nworks until {made.expires_at}, or until it is answered")


async def content(settings: Settings, id: DocumentId, version: VersionOption) -> None:
    """Print the data and extracted fields of a version; the journal keeps who read them."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.documents.content(id, version)
    output.line(view)


async def upload(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to send.", show_default=False)],
    resume: Annotated[
        str, typer.Option("--resume", metavar="ID", help="Go on with an upload to a server that was broken off.")
    ] = "",
) -> None:
    """Store a file for a document to refer to; it is removed unless one does within an hour."""
    if not server_of(settings):
        if resume:
            fact, hint = "beside a store an upload is never broken off", "Name a server, or leave it out."
            raise usage("use", "option", "--resume", fact, hint)
        await make_store(load_project(settings).store)
    async with open_store(settings, "reader") as perdure:
        blob = await _sent(settings, perdure, file, resume)
    output.show(settings, blob, lambda: f"✓ stored: {blob.blob} ({blob.size:,} bytes, {blob.media_type})")


async def download(
    settings: Settings,
    id: DocumentId,
    version: VersionOption,
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="Where to write it; must not exist.")],
) -> None:
    """Write the file of a version; the journal keeps who read it."""
    if to.exists():
        raise usage("write", "file", str(to), "it exists already", "Choose another name.")
    async with open_store(settings, "reader", must_exist=True) as perdure:
        with progress_bar(settings, f"Receiving {to.name}", counts_bytes=True) as bar:
            try:
                blob = await perdure.documents.save(id, version, to, progress=lambda done, size: bar("", done, size))
            except OSError as error:
                raise usage("write", "file", str(to), f"it cannot be written ({error.strerror})") from error
    output.show(settings, blob, lambda: f"✓ written: {to} ({blob.size:,} bytes, {blob.media_type})")


async def events(settings: Settings, id: DocumentId) -> None:
    """Show who handed in, decided, read and erased what, and when."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.documents.events(id)
    output.show(settings, found, lambda: "\n".join(f"{each.at}  {each.entry}  {each.principal}" for each in found))


async def types(settings: Settings) -> None:
    """List the declared types of documents."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.documents.types()
    output.show(settings, found, lambda: _types(found))


async def reasons(settings: Settings) -> None:
    """List the rejection reasons with their words for clients and operators."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.documents.reasons()
    output.show(settings, found, lambda: _reasons(found))


async def erase(
    settings: Settings,
    id: DocumentId,
    reason: Annotated[str, typer.Option("--reason", help="Why; the journal keeps it.")],
) -> None:
    """Erase the data and the files of a document; its history stays."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.documents.erase(id, reason)
    output.show(settings, view, lambda: f"✓ erased: {view.id}")


async def collect(
    settings: Settings,
    dry: Annotated[bool, typer.Option("--dry-run", "--dry", help="Count only; remove nothing.")] = False,
) -> None:
    """Remove files that no document refers to and that are older than an hour."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.documents.collect(dry=dry)
    done = "removed" if found.removed else "would be removed"
    output.show(settings, found, lambda: f"{found.blobs:,} files of {found.bytes:,} bytes {done}")


async def _content(
    settings: Settings, perdure: Any, data: str, file: Path | None, valid_from: str, valid_to: str
) -> dict[str, Any]:
    import msgspec

    given: dict[str, Any] = {"valid_from": valid_from, "valid_to": valid_to}
    if data:
        try:
            given["data"] = msgspec.json.decode(data.encode())
        except msgspec.DecodeError as error:
            raise usage("read", "option", "--data", f"it is not JSON: {error}") from error
    if file is not None:
        given |= {"blob": (await _sent(settings, perdure, file)).blob, "name": file.name}
    return given


async def _sent(settings: Settings, perdure: Any, file: Path, resume: str = "") -> BlobView:
    """Send a file; whoever is interrupted is told how to go on."""
    more, ids = dict[str, Any](), list[str]()
    if server_of(settings):
        more = {"resume": resume, "begun": ids.append}
    with progress_bar(settings, f"Sending {file.name}", counts_bytes=True) as bar:
        try:
            sent: BlobView = await perdure.documents.upload(
                file, progress=lambda done, size: bar("", done, size), **more
            )
        except OSError as error:
            raise usage("read", "file", str(file), f"it cannot be read ({error.strerror})") from error
        except (StoreUnavailableError, asyncio.CancelledError, KeyboardInterrupt):
            if ids:
                typer.echo(f"Go on within a day with: perdure documents upload {file} --resume {ids[0]}", err=True)
            raise
    return sent


def _items(found: list[DocumentItem]) -> object:
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import table

    rows = [
        (Text(each.status, _style(each.status)), Text(each.type), Text(each.subject), Text(each.id, style="bold"),
         Text(each.valid_to or ""), Text(each.reason))
        for each in found
    ]  # fmt: skip
    columns = ("status", "type", "subject", "id", "valid to", "reason")
    return table("Documents", columns, rows, "There are no documents.", lesser=("valid to", "reason"))


def _picture(view: DocumentView) -> object:
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import table

    rows = [
        (Text(str(each.number)), Text(each.status, _style(each.status)), Text(each.received_by),
         Text(_content_kind(each)), Text(each.valid_to or ""), Text(each.decided_by),
         Text(each.reason.code if each.reason is not None else ""))
        for each in view.versions
    ]  # fmt: skip
    until = f", valid to {view.valid_to}" if view.valid_to else ""
    title = f"{view.type} {view.id} about {view.subject or 'nobody'}: {view.status}{until}"
    columns = ("version", "status", "handed in by", "content", "valid to", "decided by", "reason")
    return table(title, columns, rows, f"{title}. It has no version yet.", lesser=("valid to",))


def _asked(view: RequestView) -> object:
    from rich.console import Group
    from rich.text import Text

    came = f"{view.received_count} of {view.expected} came"
    until = f", due {view.due_at}" if view.due_at else ""
    lines = [
        f"{view.title} ({view.document_type}): {view.status}, attempt {view.attempt}, {came}{until}",
        *filter(None, (view.text, view.reason)),
        *(f"sent by {each.channel} to {each.address or 'nobody named'}: {each.status}" for each in view.deliveries),
        *(f"came at {each.at}: {each.media_type}" for each in view.received),
    ]
    return Group(*map(Text, lines))


def _content_kind(version: VersionView) -> str:
    if version.source == "waiver":
        return "waiver"
    return version.blob.media_type if version.blob is not None else "data"


def _types(found: list[DocumentTypeView]) -> object:
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import table

    rows = [
        (Text(each.name, style="bold"), Text(each.description), Text(", ".join(each.media_types) or "data"),
         Text(each.validity), Text(", ".join(each.verify_groups)))
        for each in found
    ]  # fmt: skip
    columns = ("type", "description", "content", "validity", "decided on by")
    return table("Document types", columns, rows, "No document types are declared.", lesser=("validity",))


def _reasons(found: list[ReasonView]) -> object:
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import table

    rows = [
        (Text(each.code, style="bold"), Text(each.category), Text(each.client), Text(each.next_action))
        for each in found
    ]
    columns = ("code", "category", "words for the client", "next")
    return table("Rejection reasons", columns, rows, "There are no reasons.", lesser=())


def _style(status: str) -> str:
    return {"verified": "green", "pending": "yellow"}.get(status, "red")


COMMANDS = {
    "documents": {
        "list": list_documents, "show": show, "create": create, "receive": receive, "verify": verify, "reject": reject,
        "supersede": supersede, "waive": waive, "content": content, "upload": upload, "download": download,
        "events": events, "types": types, "reasons": reasons, "request": request, "token": token, "erase": erase,
        "collect": collect,
    }
}  # fmt: skip
