// Erasing the data of what has ended: for good, with a reason, while its history stays.
import { post } from "../api/client";
import { Confirm } from "./dialog";
import { tell } from "./toasts";

/** `path` is where it stands in the API, `noun` what it is called. */
export function Erase({ path, noun, onDone, onClose }: { path: string; noun: string; onDone: () => void; onClose: () => void }) {
  const run = async (reason: string) => {
    await post(`${path}/erase`, { reason });
    tell("Its data was erased");
    onDone();
  };
  return (
    <Confirm title={`Erase the data of this ${noun}?`} act="Erase" isDangerous reason="required" phrase="erase" onAct={run} onClose={onClose}>
      <p>What went in, what came out and what was kept in between is gone for good. That it ran, when, and who did what stays and can still be checked.</p>
    </Confirm>
  );
}
