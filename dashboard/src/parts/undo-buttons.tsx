// Going back over what was done on a page: two buttons, and the keys everybody knows.
import { useEffect, useRef, useState } from "preact/hooks";
import { pageShortcuts, type Shortcut } from "../shortcuts";

const KEYS: Shortcut[] = [{ keys: "Ctrl Z", label: "Undo the last change" }, { keys: "Ctrl Shift Z", label: "Do it again" }];

type Act = (() => void) | undefined;
type Name = "undo" | "redo";
interface UndoProps { undo: Act; redo: Act; isDisabled?: boolean }

export function Undo({ undo, redo, isDisabled = false }: UndoProps) {
  const [said, setSaid] = useState("");
  const latest = useRef({ undo, redo, isDisabled });
  latest.current = { undo, redo, isDisabled };
  // What is pressed while the last act is under way comes after it; nothing pressed is lost.
  const waiting = useRef<Name[]>([]);
  const act = (name: Name) => {
    if (latest.current.isDisabled) return void waiting.current.push(name);
    if (latest.current[name] === undefined) return setSaid(name === "undo" ? "Nothing to undo" : "Nothing to redo");
    latest.current[name]();
    setSaid(name === "undo" ? "Undone" : "Done again");
  };
  useEffect(() => {
    const next = isDisabled ? undefined : waiting.current.shift();
    if (next !== undefined) act(next);
  });
  useEffect(() => {
    pageShortcuts.value = [...pageShortcuts.value, ...KEYS];
    const listen = (event: KeyboardEvent) => {
      const name = wanted(event);
      if (!name || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      act(name);
    };
    document.addEventListener("keydown", listen);
    return () => {
      document.removeEventListener("keydown", listen);
      pageShortcuts.value = pageShortcuts.value.filter((each) => !KEYS.includes(each));
    };
  }, []);
  return (
    <span class="row" role="group" aria-label="Changes">
      <button type="button" class="button" aria-keyshortcuts="Control+Z" title="Ctrl Z" aria-disabled={isDisabled || undo === undefined} onClick={() => act("undo")}>Undo</button>
      <button type="button" class="button" aria-keyshortcuts="Control+Shift+Z" title="Ctrl Shift Z" aria-disabled={isDisabled || redo === undefined} onClick={() => act("redo")}>Redo</button>
      <span class="unseen" role="status">{said}</span>
    </span>
  );
}

function wanted(event: KeyboardEvent): Name | "" {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return "";
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? "redo" : "undo";
  return key === "y" ? "redo" : "";
}
