// The versions of a document, newest first: who handed each in, what it is, what was decided and why.
import type { DocumentView, ReasonView, VersionView } from "../../api/paper-shapes";
import { type Column, Table } from "../../lists/table";
import { Blank } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { Badge, StateBadge } from "../../parts/state-badge";
import { sizeText } from "./file-size";

export function Versions({ document }: { document: DocumentView }) {
  return (
    <section class="card" aria-labelledby="versions-title">
      <header><h2 id="versions-title">Versions</h2><span class="badge number">{document.versions.length}</span></header>
      {document.versions.length === 0
        ? <Blank title="Nothing was handed in yet"><p>The first file that comes is version 1.</p></Blank>
        : <Table caption="Versions, newest first" columns={COLUMNS} rows={[...document.versions].reverse()} keyOf={(each) => String(each.number)} />}
    </section>
  );
}

const COLUMNS: Column<VersionView>[] = [
  { label: "Version", cell: (each) => <strong>{each.number}</strong> },
  { label: "Status", cell: (each) => <><StateBadge state={each.status} label={each.status === "pending" ? "to verify" : each.status} />{each.decided_by && <div class="soft small">by {each.decided_by} <Ago at={each.decided_at} /></div>}{each.reason && <Reason reason={each.reason} />}</> },
  { label: "Handed in", cell: (each) => <><Ago at={each.received_at} /><div class="soft small">by {each.received_by}{each.source && `, from ${each.source}`}</div></> },
  { label: "Holds", cell: (each) => <>{each.blob && <div>{each.blob.media_type}, {sizeText(each.blob.size)}</div>}{each.has_data && <div>structured data</div>}<Checks version={each} /></> },
  { label: "Valid", cell: (each) => (each.valid_to || each.valid_from ? <span class="number">{[each.valid_from && `from ${each.valid_from}`, each.valid_to && `until ${each.valid_to}`].filter(Boolean).join(" ")}</span> : <span class="soft">–</span>) },
];

function Checks({ version }: { version: VersionView }) {
  return (
    <>
      {version.scan === "waiting" && <Badge tone="wait" sign="‖">being scanned: nobody may read it yet</Badge>}
      {version.scan === "refused" && <Badge tone="bad" sign="!">the scan refused it</Badge>}
      {version.extraction === "waiting" && <Badge tone="busy" sign="▶">fields are being read out</Badge>}
      {version.extraction === "refused" && <Badge tone="bad" sign="!">no fields could be read out</Badge>}
      {version.confidence !== null && <div class="soft small">fields read out, {Math.round(version.confidence * 100)} % sure</div>}
    </>
  );
}

export function Reason({ reason }: { reason: ReasonView }) {
  return (
    <dl class="reason small">
      <dt><code>{reason.code}</code></dt><dd />
      {reason.client && <><dt>For the client</dt><dd>“{reason.client}”</dd></>}
      {reason.operator && <><dt>For us</dt><dd>{reason.operator}</dd></>}
      {reason.next_action && <><dt>Next</dt><dd>{reason.next_action.replaceAll("_", " ")}{reason.retryable ? ", may be asked again" : ", not asked again"}</dd></>}
    </dl>
  );
}
