// Keys: who may come in by one, how far each reaches; made, shown once, and revoked.
import { useState } from "preact/hooks";
import { get, mayDo, post } from "../../api/client";
import type { KeyView } from "../../api/process-shapes";
import type { Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Badge, type Tone } from "../../parts/state-badge";
import { Confirm } from "../../parts/dialog";
import { PageHead } from "../../parts/page-head";
import { Blank, Loaded } from "../../parts/load-states";
import { type Column, Table } from "../../lists/table";
import { Ago, Left } from "../../parts/relative-time";
import { tell } from "../../parts/toasts";
import { CreateKey } from "./create-key";

const TONES: Record<string, readonly [Tone, string]> = { good: ["good", "✓"], expired: ["wait", "◷"], revoked: ["quiet", "■"] };

export default function KeysPage() {
  const keys = useResource((signal) => get<Page<KeyView>>("/keys", { signal }), [], (event) => event.kind === "access");
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<KeyView | null>(null);
  const create = mayDo("key.create") && <button type="button" class="button primary" onClick={() => setCreating(true)}>Make a key</button>;
  const revoke = async (reason: string) => {
    if (!revoking) return;
    await post(`/keys/${encodeURIComponent(revoking.id)}/revoke`, { reason });
    tell(`${revoking.name} opens nothing any more`);
    keys.reload();
  };
  return (
    <>
      <PageHead title="Keys" actions={create}><p class="soft">A key lets a person, a service or an agent in, as far as its roles reach.</p></PageHead>
      <section class="card" aria-label="Keys">
        <Loaded from={keys} lines={6}>
          {(page) => page.items.length === 0 ? <Blank title="There are no keys"><p>Whoever comes over the network needs one, or signs in with your identity provider.</p></Blank> : (
            <Table caption="Keys" columns={columns(setRevoking)} rows={[...page.items].reverse()} keyOf={(row) => row.id} />
          )}
        </Loaded>
      </section>
      {isCreating && <CreateKey onDone={keys.reload} onClose={() => setCreating(false)} />}
      {revoking && (
        <Confirm title={`Revoke ${revoking.name}?`} act="Revoke" isDangerous onAct={revoke} onClose={() => setRevoking(null)}>
          <p>From the next second on it opens nothing, and whoever is signed in with it is signed out. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

function columns(onRevoke: (key: KeyView) => void): Column<KeyView>[] {
  return [
    { label: "Key", cell: (row) => <><strong>{row.name}</strong><div class="soft small">{row.principal}, {row.kind}</div></> },
    { label: "State", cell: (row) => <Badge tone={TONES[row.state]?.[0] ?? "quiet"} sign={TONES[row.state]?.[1] ?? "•"}>{row.state}</Badge> },
    {
      label: "May",
      cell: (row) => (
        <>
          {row.roles.join(", ") || <span class="soft">no role</span>}
          {row.groups.length > 0 && <div class="soft small">groups {row.groups.join(", ")}</div>}
          {row.operations.length > 0 && <div class="soft small">only {row.operations.join(", ")}</div>}
          {row.verbs.length > 0 && row.verbs.join() !== "*" && <div class="soft small">verbs {row.verbs.join(", ")}</div>}
        </>
      ),
    },
    { label: "Made", cell: (row) => <><Ago at={row.created_at} />{row.created_by && <span class="soft"> by {row.created_by}</span>}</> },
    { label: "Ends", cell: (row) => (row.revoked_at ? <>revoked <Ago at={row.revoked_at} /></> : row.expires_at ? <Left at={row.expires_at} /> : <span class="soft">never</span>) },
    { label: "Acts", cell: (row) => (row.state === "good" && mayDo("key.revoke") ? <button type="button" class="button tight danger" onClick={() => onRevoke(row)} aria-label={`Revoke ${row.name}`}>Revoke</button> : null) },
  ];
}
