// Definitions: what can be asked (verbs), what carries it (processes), and the guided journeys over it (packs).
import { useState } from "preact/hooks";
import { mayDo } from "../../api/client";
import { PageHead } from "../../parts/page-head";
import { Tabs } from "../../parts/tabs";
import "../../lists/lists.css";
import { Deploy } from "./deployment";
import { Packs } from "./pack-list";
import { Processes } from "./process-list";
import { Verbs } from "./verb-list";

export default function DefinitionsPage() {
  const [isDeploying, setDeploying] = useState(false);
  const actions = mayDo("process.check") && <button type="button" class="button" onClick={() => setDeploying(true)}>Deploy a model</button>;
  return (
    <>
      <PageHead title="Definitions" actions={actions}><p class="soft">What can be asked, and how it is carried out.</p></PageHead>
      <Tabs
        label="Kinds of definitions"
        tabs={[
          { name: "verbs", label: "Verbs", show: () => <Verbs /> },
          { name: "processes", label: "Processes", show: () => <Processes /> },
          { name: "packs", label: "Packs", show: () => <Packs /> },
        ]}
      />
      {isDeploying && <Deploy onClose={() => setDeploying(false)} />}
    </>
  );
}
