// What can be done to an instance, each act with a dialog that says what it will do.
import { useState } from "preact/hooks";
import { mayDo, post } from "../../api/client";
import type { InstanceView } from "../../api/process-shapes";
import { type Agreed, Confirm } from "../../parts/dialog";
import { Erase } from "../../parts/erase-button";
import { tell } from "../../parts/toasts";
import { Migrate } from "./migration";
import { MigrateBack } from "./migration-undo";
import { Modify } from "./token-modification";

export const ENDED = new Set(["completed", "failed", "cancelled", "terminated", "compensated"]);
type Act = "suspend" | "resume" | "cancel" | "retry" | "modify" | "migrate" | "migrate-back" | "erase";

interface ActsProps {
  view: InstanceView; name: (element: string) => string; elements: { id: string; name: string }[]; onChange: (view: InstanceView) => void; onStale: () => void;
  /** Whether it was ever migrated, as far as its journal has been read. */
  hasMigrated: boolean;
}

export function Acts(props: ActsProps) {
  const [open, setOpen] = useState<Act | null>(null);
  const { view } = props;
  const close = () => setOpen(null);
  const acts = actsFor(view, props.hasMigrated);
  return (
    <>
      {acts.map(([act, label]) => (
        <button key={act} type="button" class={`button ${act === "cancel" || act === "erase" ? "danger" : act === "retry" ? "primary" : ""}`} onClick={() => setOpen(act)}>{label}</button>
      ))}
      {open === "modify" && <Modify {...props} onClose={close} />}
      {open === "migrate" && <Migrate {...props} onClose={close} />}
      {open === "migrate-back" && <MigrateBack {...props} onClose={close} />}
      {open === "erase" && <Erase path={`/instances/${view.id}`} noun="instance" onDone={props.onStale} onClose={close} />}
      {isSimple(open) && <Simple act={open} {...props} onClose={close} />}
    </>
  );
}

function isSimple(act: Act | null): act is keyof typeof SIMPLE {
  return act !== null && act in SIMPLE;
}

function actsFor(view: InstanceView, hasMigrated: boolean): [Act, string][] {
  if (ENDED.has(view.state)) return mayDo("instance.erase") && !view.erased_at ? [["erase", "Erase data"]] : [];
  const all: [Act, string, boolean][] = [
    ["retry", view.incidents.length === 1 ? "Retry what is stuck" : `Retry all ${view.incidents.length} that are stuck`, view.incidents.length > 0 && mayDo("instance.retry")],
    ["suspend", "Suspend", view.state === "active" && mayDo("instance.suspend")],
    ["resume", "Resume", view.state === "suspended" && mayDo("instance.resume")],
    ["modify", "Move tokens", mayDo("instance.modify")],
    ["migrate", "Migrate", mayDo("instance.migrate")],
    ["migrate-back", "Migrate back", hasMigrated && mayDo("instance.migrate")],
    ["cancel", "Cancel", mayDo("instance.cancel")],
  ];
  return all.filter(([, , isPossible]) => isPossible).map(([act, label]) => [act, label]);
}

const SIMPLE = {
  suspend: { title: "Suspend this instance?", act: "Suspend", text: "Nothing happens to it until it is resumed: jobs, timers and messages wait.", done: "Suspended" },
  resume: { title: "Resume this instance?", act: "Resume", text: "It goes on. What fell due while it was suspended fires now, unless its timers are shifted.", done: "Resumed" },
  cancel: { title: "Cancel this instance?", act: "Cancel it", text: "It stops and cannot go on again. What it did stays done, unless it is undone.", done: "Cancelled" },
  retry: { title: "Try again what is stuck?", act: "Retry", text: "Every incident of this instance is closed and its work tried again, with all attempts its policy grants.", done: "Retrying" },
} as const;

function Simple({ act, view, onChange, onClose }: ActsProps & { act: keyof typeof SIMPLE; onClose: () => void }) {
  const [isTicked, setTicked] = useState(false);
  const { title, act: word, text, done } = SIMPLE[act];
  const box = act === "cancel" ? "Undo what was done (compensate)" : act === "resume" ? "Shift every timer by the time it was suspended" : "";
  const run = async (reason: string, _: string, agreed: Agreed) => {
    const more = act === "cancel" ? { compensate: isTicked, reason } : act === "resume" ? { shift_timers: isTicked } : { reason };
    onChange(await post<InstanceView>(`/instances/${view.id}/${act}`, { ...more, ...agreed }));
    tell(done);
  };
  return (
    <Confirm title={title} act={word} isDangerous={act === "cancel"} reason={act === "resume" ? "none" : "optional"} onAct={run} onClose={onClose}>
      <p>{text}</p>
      {box && <label class="check"><input type="checkbox" checked={isTicked} onChange={(event) => setTicked(event.currentTarget.checked)} /><span>{box}</span></label>}
    </Confirm>
  );
}
