// What a task decides about: the data of its instance, or what its call was asked for.
import { get } from "../../api/client";
import type { InstanceView, Task } from "../../api/process-shapes";
import type { Json } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { JsonTree } from "../../parts/json-tree";
import { isOfStep } from "../inbox/task-assignment";

interface Asked { args?: Json; sentence?: string; steps?: { number: number; args?: Json; sentence?: string }[] }

/** Whoever may not see it is asked all the same: then the form has to do. */
export function About({ task }: { task: Task }) {
  const found = useResource(async (signal) => (isOfStep(task) ? ofStep(task, signal) : ofInstance(task, signal)), [task.key], (event) => event.id === task.instance);
  const told = found.data;
  if (!told || (told.sentence === "" && isNothing(told.data))) return null;
  return (
    <section class="card" aria-labelledby="about-title">
      <header><h2 id="about-title">What it is about</h2></header>
      <div class="inside stack">
        {told.sentence && <p>{told.sentence}</p>}
        {!isNothing(told.data) && <JsonTree value={told.data} label="What it is about" />}
      </div>
    </section>
  );
}

interface Told { sentence: string; data: Json | undefined }

async function ofInstance(task: Task, signal: AbortSignal): Promise<Told> {
  const view = await get<InstanceView>(`/instances/${encodeURIComponent(task.instance)}`, { signal });
  return { sentence: "", data: view.data };
}

async function ofStep(task: Task, signal: AbortSignal): Promise<Told> {
  const path = encodeURIComponent(task.instance);
  const view = await get<Asked>(task.element === "" ? `/calls/${path}` : `/runbooks/${path}`, { signal });
  const step = view.steps ? view.steps.find((each) => each.number === task.token) : view;
  return { sentence: step?.sentence ?? "", data: step?.args };
}

function isNothing(data: Json | undefined): boolean {
  return data === undefined || data === null || (typeof data === "object" && Object.keys(data).length === 0);
}
