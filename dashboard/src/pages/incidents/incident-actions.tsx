// The acts that apply to one incident, as the server says them.
import { useState } from "preact/hooks";
import { mayDo, post } from "../../api/client";
import type { StuckAction, StuckView } from "../../api/process-shapes";
import { Confirm } from "../../parts/dialog";
import { tell } from "../../parts/toasts";
import { Link } from "../../router";
import { ResolveToken } from "../instance/current-state";

/** What needs the diagram in sight is done on the page of the instance. */
const ELSEWHERE = new Set(["modify", "migrate"]);
const WORDS: Record<string, { title: string; text: string; done: string; reason: "none" | "optional" | "required"; isDangerous: boolean }> = {
  retry: { title: "Try it again?", text: "It gets all its attempts anew; the idempotency key stays the same.", done: "Trying again", reason: "none", isDangerous: false },
  skip: { title: "Go on without it?", text: "The step is passed over. What needs its result is passed over too.", done: "Skipped", reason: "required", isDangerous: false },
  cancel: { title: "Stop it?", text: "It stops and cannot go on again. What was done stays done.", done: "Stopped", reason: "optional", isDangerous: true },
  compensate: { title: "Take back what was done?", text: "Whatever can be undone is undone, in reverse order.", done: "Taking it back", reason: "optional", isDangerous: true },
};

export function StuckActs({ item, onDone }: { item: StuckView; onDone: () => void }) {
  const [open, setOpen] = useState<StuckAction | null>(null);
  const acts = item.actions.filter((each) => mayDo(each.operation) && (ELSEWHERE.has(each.act) || each.act === "resolve" || WORDS[each.act]));
  if (acts.length === 0) return null;
  return (
    <span class="row">
      {acts.filter((each) => !ELSEWHERE.has(each.act)).map((each) => (
        <button key={each.act} type="button" class={`button tight ${WORDS[each.act]?.isDangerous ? "danger" : ""}`} onClick={() => setOpen(each)}>{each.title}</button>
      ))}
      {acts.some((each) => ELSEWHERE.has(each.act)) && <Link class="button tight quiet" to={`/instances/${item.id}`}>Mend it in the diagram</Link>}
      {open && <Act item={item} action={open} onDone={onDone} onClose={() => setOpen(null)} />}
    </span>
  );
}

function Act({ item, action, onDone, onClose }: { item: StuckView; action: StuckAction; onDone: () => void; onClose: () => void }) {
  const path = action.path.replace(/^\/api/, "");
  const token = item.kind === "instance" && (action.act === "retry" || action.act === "resolve") ? { token: item.place } : {};
  const run = async (body: object) => {
    await post(path, { ...token, ...body });
    tell(WORDS[action.act]?.done ?? "Resolved");
    onDone();
  };
  if (action.act === "resolve") {
    const resolve = (body: { data?: unknown; error?: string; reason?: string }) => run(item.kind === "instance" ? body : { ...(body.error === undefined ? { result: body.data } : { error: body.error }), reason: body.reason });
    return <ResolveToken what={item.name || item.title} verb={item.verbs.at(-1) ?? ""} onResolve={resolve} onClose={onClose} />;
  }
  const words = WORDS[action.act];
  if (!words) return null;
  return (
    <Confirm title={words.title} act={action.title} isDangerous={words.isDangerous} reason={words.reason} onAct={(reason, _, agreed) => run(words.reason === "none" ? agreed : { reason, ...agreed })} onClose={onClose}>
      <p>{words.text}</p>
    </Confirm>
  );
}
