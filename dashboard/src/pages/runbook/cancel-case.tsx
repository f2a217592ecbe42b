// Stopping everything that runs for a case: first what that is, then all of it or none.
import { get, post } from "../../api/client";
import type { Page, RunbookRow, RunbookView } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Confirm } from "../../parts/dialog";
import { Loaded } from "../../parts/load-states";
import { tell } from "../../parts/toasts";
import { ENDED } from "./runbook-reader";

const MOST = 200;
const MOST_NAMED = 10;

export function CancelCase({ name, onDone, onClose }: { name: string; onDone: () => void; onClose: () => void }) {
  const found = useResource(async (signal) => runningIn(await get<Page<RunbookRow>>("/runbooks", { query: { case: name, kind: "all", limit: MOST }, signal })), [name]);
  const run = async (reason: string) => {
    const { items } = await post<{ items: RunbookView[] }>(`/cases/${encodeURIComponent(name)}/cancel`, { reason });
    tell(`${items.length} ${items.length === 1 ? "runbook was" : "runbooks were"} cancelled`);
    onDone();
  };
  return (
    <Confirm title={`Cancel the case ${name}?`} act="Cancel all of it" isDangerous reason="required" isReady={(found.data?.length ?? 0) > 0} onAct={run} onClose={onClose}>
      <p>Everything of this case that has not ended stops, with whatever it waits for. What was done stays done.</p>
      <Loaded from={found} lines={3}>
        {(rows) => rows.length === 0 ? <p class="notice">Nothing of this case is left to stop.</p> : (
          <>
            <ul class="sentences">{rows.slice(0, MOST_NAMED).map((row) => <li key={row.id}>{row.title || row.id} <span class="soft">({row.state})</span></li>)}</ul>
            {rows.length > MOST_NAMED && <p class="soft">and {rows.length - MOST_NAMED} more</p>}
          </>
        )}
      </Loaded>
    </Confirm>
  );
}

function runningIn(page: Page<RunbookRow>): RunbookRow[] {
  return page.items.filter((row) => !ENDED.has(row.state));
}
