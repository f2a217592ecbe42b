// One document: its versions, what they hold, who decided what, and everybody who read it.
import { get } from "../../api/client";
import type { DocumentTypeView, DocumentView } from "../../api/paper-shapes";
import type { EventView, Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Loaded } from "../../parts/load-states";
import { PageHead } from "../../parts/page-head";
import { Ago } from "../../parts/relative-time";
import { Identity } from "../../parts/short-id";
import { StateBadge } from "../../parts/state-badge";
import { Tabs } from "../../parts/tabs";
import { Link, type PageProps } from "../../router";
import { Comparison } from "./comparison";
import { Content } from "./content";
import { Acts } from "./document-actions";
import { History } from "./document-history";
import { Upload } from "./upload";
import { Versions } from "./version-list";
import "./document.css";

export default function DocumentPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const found = useResource((signal) => get<DocumentView>(`/documents/${id}`, { signal }), [id], (event) => event.id === id);
  return <Loaded from={found} lines={12}>{(document) => <Document key={id} document={document} onChange={found.replace} />}</Loaded>;
}

function Document({ document, onChange }: { document: DocumentView; onChange: (document: DocumentView) => void }) {
  const types = useResource((signal) => get<Page<DocumentTypeView>>("/document-types", { signal }), []);
  const events = useResource((signal) => get<Page<EventView>>(`/documents/${document.id}/events`, { signal }), [document.id], (event) => event.id === document.id);
  const type = types.data?.items.find((each) => each.name === document.type);
  const isErased = document.erased_at !== null;
  const shared = { document, onChange };
  return (
    <>
      <PageHead title={document.subject ? `${document.type} · ${document.subject}` : document.type} actions={<Acts {...shared} type={type} />}>
        <span class="row">
          <StateBadge state={document.status} label={statusText(document)} />
          {document.valid_to && <span class="soft">valid {document.valid_from && `from ${document.valid_from} `}until {document.valid_to}</span>}
        </span>
        {type?.description && <p class="soft">{type.description}</p>}
      </PageHead>
      <div class="stack">
        {isErased && <p class="notice">Its data was erased <Ago at={document.erased_at} />. What happened to it is still here.</p>}
        {document.superseded_by && <p class="notice">Another document took its place: <Link to={`/documents/${document.superseded_by}`}>open it</Link>.</p>}
        {!isErased && !document.superseded_by && <Upload {...shared} type={type} />}
        <Versions {...shared} />
        <section class="card"><div class="inside">
          <Tabs
            label="About this document"
            tabs={[
              ...(document.versions.length > 0 && !isErased ? [{ name: "content", label: "Content", show: () => <Content key={document.id} document={document} /> }] : []),
              ...(document.versions.length > 1 && !isErased ? [{ name: "compare", label: "Side by side", show: () => <Comparison document={document} /> }] : []),
              { name: "history", label: "History", show: () => <History events={events} /> },
              { name: "about", label: "About", show: () => <About document={document} type={type} /> },
            ]}
          />
        </div></section>
      </div>
    </>
  );
}

function statusText(document: DocumentView): string {
  if (document.status !== "pending") return document.status;
  return document.versions.length === 0 ? "awaited" : "to verify";
}

function About({ document, type }: { document: DocumentView; type: DocumentTypeView | undefined }) {
  return (
    <dl class="facts">
      <dt>Id</dt><dd><Identity id={document.id} /></dd>
      <dt>Subject</dt><dd>{document.subject ? <Link to={`/documents?subject=${encodeURIComponent(document.subject)}`}>{document.subject}</Link> : <span class="soft">nobody</span>}</dd>
      <dt>Created</dt><dd><Ago at={document.created_at} />{document.created_by && ` by ${document.created_by}`}{document.source && `, from ${document.source}`}</dd>
      {document.parent && <><dt>Part of</dt><dd><Link to={`/documents/${document.parent}`}>another document</Link></dd></>}
      {document.correlation_id && <><dt>Asked for as</dt><dd><Asked key={document.correlation_id} correlation={document.correlation_id} /></dd></>}
      {type && <><dt>Verified by</dt><dd>{type.verify_groups.length > 0 ? type.verify_groups.join(", ") : "any reviewer"}{type.four_eyes && ", never by whoever handed it in"}</dd></>}
      {type?.validity && <><dt>Holds for</dt><dd>{type.validity}</dd></>}
      {type?.retention && <><dt>Kept for</dt><dd>{type.retention}</dd></>}
    </dl>
  );
}

/** A correlation id begins with the instance that asked. */
function Asked({ correlation }: { correlation: string }) {
  const instance = /^([0-9a-z]{26}):/.exec(correlation)?.[1];
  return <><code>{correlation}</code>{instance && <> · <Link to={`/lifecycles/${instance}`}>the lifecycle that asked</Link></>}</>;
}
