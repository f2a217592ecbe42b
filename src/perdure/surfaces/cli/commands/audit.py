"""Commands that audit a store: verify, export, seal, rotate-key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import INTEGRITY
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.progress_bar import progress_bar
from perdure.surfaces.cli.project_context import load_project, open_store
from perdure.surfaces.cli.remote_server import only_on_store, open_server, server_of

if TYPE_CHECKING:
    from perdure.app.compliance_export import Verdict
    from perdure.store.audit import Anchor, Finding, Report

MAX_SHOWN = 20
Keys = Annotated[
    list[Path] | None, typer.Option("--key", metavar="FILE", help="Public keys of seals, or a folder of *.pub.")
]


async def verify(
    settings: Settings,
    document: Annotated[
        Path | None, typer.Argument(metavar="[EXPORT]", help="Check this document instead.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Rows, heads and seals only, no replay.")] = False,
    require_sealed: Annotated[bool, typer.Option("--require-sealed", help="Unsealed records are findings.")] = False,
    anchor: Annotated[
        str | None, typer.Option("--anchor", metavar="NUMBER:HASH", help="A seal you noted; it must still be there.")
    ] = None,
    key: Keys = None,
    dry: Annotated[bool, typer.Option("--dry", help="Set nothing aside, only tell.")] = False,
) -> None:  # fmt: skip
    """Check everything stored against everything else. Exits 9 when anything is wrong, and says where."""
    if document is not None:
        _verify_export(settings, document, key or [], require_sealed)
        return
    from perdure.app.audit.store_audit import noted_seal, public_keys_of, verify_store

    only_on_store(settings, "audit verify")
    config = load_project(settings)
    keys = public_keys_of(config.store, config.seal_key_file, key or ())
    async with open_store(settings, "reader", config, must_exist=True) as perdure:
        noted = _anchor(anchor) or await noted_seal(perdure, config.store, config.seal_key_file)
        with progress_bar(settings, "Verifying") as progress:
            report = await verify_store(
                perdure, keys, progress=progress, is_quick=quick, require_sealed=require_sealed,
                anchor=noted, is_dry=dry,
            )  # fmt: skip
    output.show(settings, _told(report), lambda: _picture(report))
    if not report.is_clean:
        raise typer.Exit(INTEGRITY)


def _verify_export(settings: Settings, document: Path, keys: list[Path], require_sealed: bool) -> None:
    from perdure.app.compliance_export import Verdict, check_document, is_document
    from perdure.store.audit import verify_export
    from perdure.store.signing_keys import load_public_keys

    try:
        content = document.read_bytes()
    except OSError as error:
        raise usage("verify", "export", str(document), f"it cannot be read ({error.strerror})") from None
    public_keys = load_public_keys(keys) if keys else None
    if is_document(content):
        verdict = check_document(content, public_keys, require_sealed=require_sealed)
    else:
        verdict = Verdict(verify_export(content, public_keys, require_sealed=require_sealed), [])
    findings = verdict.findings
    told = {
        "ok": not findings, "document": str(document), "findings": [_finding(each) for each in findings],
        "notes": verdict.notes,
    }  # fmt: skip
    output.show(settings, told, lambda: _verdict_picture(verdict, f"{document} is whole."))
    if findings:
        raise typer.Exit(INTEGRITY)


async def export(
    settings: Settings,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Calls; all if none is named.")] = None,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="One call with all its parts: .json, .html.")
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="With --output: a page that people read.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A file for each call and instance by itself.")
    ] = None,
    key: Keys = None,
) -> None:  # fmt: skip
    """Write calls as documents that can be checked without the store: perdure audit verify FILE."""
    if (file is None) == (out is None):
        raise usage("export", "calls", " ".join(ids or []) or "all", "one of -o FILE and --out DIR is needed")
    if file is not None:
        if len(ids or []) != 1:
            hint = "Name one, or use --out DIR for several."
            raise usage("export", "document", str(file), "it is about one call", hint)
        await export_document(settings, (ids or [])[0], file, key or [], is_page=html)
    elif out is not None:
        await _export_each(settings, ids or [], out, key or [])


async def export_document(settings: Settings, id: str, file: Path, key: list[Path], *, is_page: bool = False) -> None:
    """Write one document about one call or runbook: a page where the file's name says so."""
    from perdure.app.audit.store_audit import public_keys_of, write_document

    is_page = is_page or file.suffix.lower() in (".html", ".htm")
    if server_of(settings):
        await _download(settings, id, file, is_page)
        return
    config = load_project(settings)
    keys = public_keys_of(config.store, config.seal_key_file, key)
    async with open_store(settings, "reader", config, must_exist=True) as perdure:
        size = await write_document(perdure, id, file, keys, is_page=is_page)
    output.show(
        settings, {"document": str(file), "bytes": size}, lambda: f"✓ {id} written to {file}"
    )  # fmt: skip


async def _download(settings: Settings, id: str, file: Path, is_page: bool) -> None:
    """The document as the server makes it; it has the public keys of its seals."""
    async with open_server(settings) as client:
        document = await client.export(id, format="html" if is_page else "json")
    _write(file, document)
    told = {"document": str(file), "bytes": len(document)}
    output.show(settings, told, lambda: f"✓ {id} written to {file}")


def _write(file: Path, document: bytes) -> None:
    try:
        file.write_bytes(document)
    except OSError as error:
        raise usage("write", "document", str(file), f"it cannot be written ({error.strerror})") from None


async def _export_each(settings: Settings, ids: list[str], out: Path, key: list[Path]) -> None:
    from perdure.app.audit.store_audit import export_calls, public_keys_of

    only_on_store(settings, "audit export --out")
    config = load_project(settings)
    keys = public_keys_of(config.store, config.seal_key_file, key)
    async with open_store(settings, "reader", config, must_exist=True) as perdure:
        with progress_bar(settings, "Exporting") as progress:
            written = await export_calls(perdure, ids, out, keys, progress)
    _show_written(settings, written, out)


def _show_written(settings: Settings, written: int, out: Path) -> None:
    told = {"written": written, "folder": str(out.resolve())}
    output.show(settings, told, lambda: f"✓ {output.counted(written, 'call')} written to {out}")


async def seal(settings: Settings) -> None:
    """Seal now what is not sealed yet; a worker does it regularly."""
    from perdure.app.audit.store_audit import seal_store

    only_on_store(settings, "audit seal")
    config = load_project(settings)
    async with open_store(settings, "reader", config, must_exist=True) as perdure:
        written = await seal_store(perdure, config.store, config.seal_key_file)
    output.show(
        settings,
        {"seals": written},
        lambda: f"✓ {output.counted(written, 'new seal')}" if written else "✓ all is sealed already",
    )


async def rotate_key(
    settings: Settings,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The reason, kept in the journal.")],
) -> None:
    """Replace the seal key by a new one; the old key signs it where its file still exists."""
    from perdure.app.audit import store_audit

    only_on_store(settings, "audit rotate-key")
    config = load_project(settings)
    async with open_store(settings, "reader", config, must_exist=True) as perdure:
        done = await store_audit.rotate_key(perdure, config.store, config.seal_key_file, reason)
    told = {"key": done.key_id, "previous": done.previous_id, "signed_by_previous": done.is_signed}
    signed = "signed by the key before it" if done.is_signed else "NOT signed by the key before it, which is gone"
    output.show(settings, told, lambda: f"✓ key {done.key_id} is in force, {signed}")


def _anchor(text: str | None) -> Anchor | None:
    from perdure.store.audit import Anchor

    if text is None:
        return None
    number, _, hash = text.partition(":")
    if not number.isdecimal() or not hash:
        raise usage("read", "option", "--anchor", f"'{text}' is not NUMBER:HASH", "As `audit verify` printed it.")
    return Anchor(int(number), hash)


def _told(report: Report) -> dict[str, Any]:
    import msgspec

    counts: dict[str, Any] = msgspec.to_builtins(report)
    number, hash = report.last_seal
    return {
        **counts, "ok": report.is_clean, "findings": [_finding(each) for each in report.findings],
        "last_seal": {"number": number, "hash": hash},
    }  # fmt: skip


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code, "place": finding.place, "call": finding.aggregate, "sequence": finding.sequence,
        "message": finding.sentence,
    }  # fmt: skip


def _picture(report: Report) -> Any:
    from rich.console import Group
    from rich.text import Text

    number, hash = report.last_seal
    praise = "All is as it was written." if not report.unsealed else "All is as it was written; not all is sealed yet."
    older = [f"{output.counted(report.before_anchors, 'row')} from before anchoring"] if report.before_anchors else []
    numbers = {"call": report.aggregates, "record": report.records, "payload": report.payloads, "seal": report.seals}
    counts = ", ".join(output.counted(number, thing) for thing, number in numbers.items())
    sealed = f"last seal {number}:{hash}" if number else "not sealed yet"
    young = f", {output.counted(report.unsealed, 'record')} younger than it" if report.unsealed and number else ""
    return Group(
        _findings_picture(report.findings, praise, is_warned=bool(report.warnings)),
        *(Text(f"  ! {each}", style="yellow", overflow="fold") for each in report.warnings),
        Text(f"  {', '.join([counts, *older])}", style="dim"),
        Text(f"  {sealed}{young}", style="dim", overflow="fold"),
    )


def _verdict_picture(verdict: Verdict, praise: str) -> Any:
    from rich.console import Group
    from rich.text import Text

    counts = {"record": verdict.records, "payload": verdict.payloads, "seal": verdict.seals}
    told = ", ".join(output.counted(number, thing) for thing, number in counts.items())
    return Group(
        _findings_picture(verdict.findings, praise),
        *([Text(f"  {told}", style="dim")] if verdict.records else []),
        *(Text(f"  ! {note}", style="yellow", overflow="fold") for note in verdict.notes),
    )


def _findings_picture(findings: list[Finding], praise: str, *, is_warned: bool = False) -> Any:
    from rich.console import Group
    from rich.text import Text

    if not findings:
        return Text(f"! {praise}", style="bold yellow") if is_warned else Text(f"✓ {praise}", style="bold green")
    lines = [Text(f"✗ {output.counted(len(findings), 'finding')}", style="bold red")]
    for each in findings[:MAX_SHOWN]:
        where = f"{each.place} of call {each.aggregate}" if each.aggregate else each.place
        at = f", record {each.sequence}" if each.sequence else ""
        lines.append(
            Text.assemble(("  ", ""), (each.code, "bold red"), (f" {where}{at}", "bold"), f"\n    {each.sentence}")
        )
    if len(findings) > MAX_SHOWN:
        lines.append(Text(f"  and {len(findings) - MAX_SHOWN} more; --json has them all", style="dim"))
    return Group(*lines)


COMMANDS = {"audit": {"verify": verify, "export": export, "seal": seal, "rotate-key": rotate_key}}
