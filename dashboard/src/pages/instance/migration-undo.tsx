// Undoing the last migration: what would happen is asked for first and shown before anybody agrees.
import { post } from "../../api/client";
import type { InstanceView, MigrationPlan } from "../../api/process-shapes";
import { useResource } from "../../live/resource";
import { Confirm } from "../../parts/dialog";
import { Loaded } from "../../parts/load-states";
import { tell } from "../../parts/toasts";
import { MigrationTold } from "./migration-plan";

interface MigrateBackProps { view: InstanceView; name: (element: string) => string; onStale: () => void; onClose: () => void }

export function MigrateBack({ view, name, onStale, onClose }: MigrateBackProps) {
  const path = `/instances/${view.id}/migrate-back`;
  const plan = useResource(() => post<MigrationPlan>(path, { dry_run: true }), [view.id, view.sequence]);
  const run = async (reason: string) => {
    const done = await post<MigrationPlan>(path, { reason }, { etag: `"${view.sequence}"` });
    tell(`Back under version ${done.version}`);
    onStale();
  };
  return (
    <Confirm title="Migrate back?" act="Migrate back" reason="required" isReady={plan.data !== undefined} onAct={run} onClose={onClose}>
      <p>It goes on under the version it had before its last migration. Tokens go back the way they came.</p>
      <Loaded from={plan} lines={3}>{(found) => <MigrationTold plan={found} name={name} />}</Loaded>
    </Confirm>
  );
}
