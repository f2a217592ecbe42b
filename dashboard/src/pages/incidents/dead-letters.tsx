// Dead letters: what arrived and fits no wait; delivered again, perhaps elsewhere, or put aside with a reason.
import { useState } from "preact/hooks";
import { mayDo, post } from "../../api/client";
import type { DeadLetterItem, Receipt } from "../../api/process-shapes";
import { List } from "../../lists/list";
import { usePages } from "../../lists/paged-list";
import { Confirm } from "../../parts/dialog";
import { JsonTree } from "../../parts/json-tree";
import { Blank } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { tell } from "../../parts/toasts";
import { letterCauseOf } from "./causes";

export function Letters() {
  const pages = usePages<DeadLetterItem>("/dead-letters", {}, () => true);
  return (
    <List of={pages} label="Dead letters" nouns={["letter", "letters"]} lines={6} none={<Blank title="Everything was delivered"><p>A message or an answer that nobody waits for is kept here, never dropped.</p></Blank>}>
      {(letters) => <ul class="stuck-list">{letters.map((each) => <Letter key={each.message_id} letter={each} onDone={pages.from.reload} />)}</ul>}
    </List>
  );
}

function Letter({ letter, onDone }: { letter: DeadLetterItem; onDone: () => void }) {
  const [open, setOpen] = useState<"replay" | "discard" | null>(null);
  const cause = letterCauseOf(letter.reason);
  return (
    <li class="stuck-item">
      <div class="stack tight">
        <span class="row"><strong>{letter.kind} for <code>{letter.key || "nobody named"}</code></strong><span class="soft small push"><Ago at={letter.received_at} /></span></span>
        <span>{cause.title}</span>
        {cause.more && <span class="soft said">{cause.more}</span>}
        <span class="soft small">{cause.helps} <code>{letter.message_id}</code></span>
        {letter.message !== null && letter.message !== undefined && <details><summary class="soft small">What it says</summary><JsonTree value={letter.message} label="Message" /></details>}
        <span class="row">
          {mayDo("dead-letter.replay") && <button type="button" class="button tight" onClick={() => setOpen("replay")}>Replay</button>}
          {mayDo("dead-letter.discard") && <button type="button" class="button tight danger" onClick={() => setOpen("discard")}>Discard</button>}
        </span>
      </div>
      {open === "replay" && <Replay letter={letter} onDone={onDone} onClose={() => setOpen(null)} />}
      {open === "discard" && <Discard letter={letter} onDone={onDone} onClose={() => setOpen(null)} />}
    </li>
  );
}

interface ActProps { letter: DeadLetterItem; onDone: () => void; onClose: () => void }

const ANSWERS: Record<string, string> = { applied: "Delivered", duplicate: "It had arrived already", late: "It came too late", dead_letter: "Still nobody waits for it" };

function Replay({ letter, onDone, onClose }: ActProps) {
  const [key, setKey] = useState("");
  const [instance, setInstance] = useState("");
  const run = async () => {
    const told = await post<Receipt>("/dead-letters/replay", { message_id: letter.message_id, key: key.trim(), instance: instance.trim() });
    const isBad = told.answer === "dead_letter" || told.answer === "ambiguous" || told.answer === "unmatched";
    tell([ANSWERS[told.answer] ?? told.answer.replaceAll("_", " "), told.reason].filter(Boolean).join(": "), { isBad });
    onDone();
  };
  return (
    <Confirm title="Deliver it again?" act="Replay" reason="none" onAct={run} onClose={onClose}>
      <div class="field">
        <label for="replay-key">Under another key</label>
        <input id="replay-key" class="input" autocomplete="off" placeholder={letter.key} value={key} onInput={(event) => setKey(event.currentTarget.value)} />
        <span class="help">Left empty, under the key it came with.</span>
      </div>
      {letter.kind !== "completion" && (
        <div class="field">
          <label for="replay-instance">To one instance</label>
          <input id="replay-instance" class="input mono" autocomplete="off" value={instance} onInput={(event) => setInstance(event.currentTarget.value)} />
          <span class="help">When several want it: the id of the one that gets it.</span>
        </div>
      )}
    </Confirm>
  );
}

function Discard({ letter, onDone, onClose }: ActProps) {
  const run = async (reason: string) => {
    await post("/dead-letters/discard", { message_id: letter.message_id, reason });
    tell("Discarded");
    onDone();
  };
  return (
    <Confirm title="Discard this letter?" act="Discard" isDangerous reason="required" onAct={run} onClose={onClose}>
      <p>It is closed without being delivered. That it came, and why it was put aside, stays known.</p>
    </Confirm>
  );
}
