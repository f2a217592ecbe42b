// Documents about the subject of a lifecycle, newest first.
import { get, mayDo } from "../../api/client";
import type { DocumentItem } from "../../api/paper-shapes";
import type { Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Loaded } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { StateBadge } from "../../parts/state-badge";
import { Link } from "../../router";

const SHOWN = 10;

export function SubjectDocuments({ subject }: { subject: string }) {
  if (!mayDo("document.list")) return null;
  return <Listed subject={subject} />;
}

function Listed({ subject }: { subject: string }) {
  const found = useResource((signal) => get<Page<DocumentItem>>("/documents", { query: { subject, limit: SHOWN }, signal }), [subject], (event) => event.kind === "document");
  return (
    <section class="card" aria-labelledby="documents-title">
      <header><h2 id="documents-title">Documents</h2><Link class="push small" to={`/documents?subject=${encodeURIComponent(subject)}`} aria-label={`All documents of ${subject}`}>All</Link></header>
      <div class="inside">
        <Loaded from={found} lines={3}>
          {(page) => page.items.length === 0 ? <p class="soft">None is known of {subject}.</p> : (
            <ul class="ways">
              {page.items.map((each) => <li key={each.id}><span class="row"><Link to={`/documents/${each.id}`}>{each.type}</Link><StateBadge state={each.status} /><span class="soft small push"><Ago at={each.created_at} /></span></span></li>)}
            </ul>
          )}
        </Loaded>
      </div>
    </section>
  );
}
