// Handing a task on: delegated by whoever has it, or reassigned by an operator.
import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { Task } from "../../api/process-shapes";
import { Confirm } from "../../parts/dialog";
import { tell } from "../../parts/toasts";

interface HandOnProps { how: "delegate" | "reassign"; path: string; onDone: (task: Task) => void; onClose: () => void }

export function HandOn({ how, path, onDone, onClose }: HandOnProps) {
  const [to, setTo] = useState("");
  const [groups, setGroups] = useState("");
  const isDelegating = how === "delegate";
  const run = async () => {
    onDone(await post<Task>(`${path}/${how}`, isDelegating ? { to: to.trim() } : { to: to.trim(), groups: groups.trim() }));
    tell(`Handed to ${to.trim() || groups.trim()}`);
  };
  return (
    <Confirm title={isDelegating ? "Delegate this task" : "Reassign this task"} act={isDelegating ? "Delegate" : "Reassign"} reason="none" onAct={run} onClose={onClose}>
      <p>{isDelegating ? "Another person answers it instead. That you handed it on is remembered." : "Another person, or other groups, have it from now on."}</p>
      <div class="field">
        <label for="hand-on-to">To whom</label>
        <input id="hand-on-to" class="input" autocomplete="off" required={isDelegating} value={to} onInput={(event) => setTo(event.currentTarget.value)} />
      </div>
      {!isDelegating && (
        <div class="field">
          <label for="hand-on-groups">Or to groups</label>
          <input id="hand-on-groups" class="input" autocomplete="off" value={groups} onInput={(event) => setGroups(event.currentTarget.value)} />
          <span class="help">Separated by commas.</span>
        </div>
      )}
    </Confirm>
  );
}
