// What a deployment would mean for everything that runs, before it happens: nothing is changed here.
import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { DeploymentImpact } from "../../api/process-shapes";
import { useResource } from "../../live/resource";
import { Loaded } from "../../parts/load-states";
import { PageHead } from "../../parts/page-head";
import "../../lists/lists.css";
import "./impact.css";
import { type Asked, Brought, LATEST } from "./brought-models";
import { Impact } from "./impact";

export default function ImpactPage() {
  const [asked, setAsked] = useState<Asked>(LATEST);
  const found = useResource((signal) => post<DeploymentImpact>("/deployments/check", asked, { signal }), [asked]);
  return (
    <>
      <PageHead title="Deploy impact"><p class="soft">For every state in which instances stand: they go on, migrate, or must stay on their version. Nothing is changed.</p></PageHead>
      <Brought onAsk={setAsked} isBusy={found.isLoading} />
      <Loaded from={found} lines={8}>{(impact) => <Impact impact={impact} isOfModels={asked.models.length > 0} />}</Loaded>
    </>
  );
}
