// What is stuck and what could not be delivered: why, and what can be done about it, one by one or many at once.
import { PageHead } from "../../parts/page-head";
import { Tabs } from "../../parts/tabs";
import "./incidents.css";
import { Letters } from "./dead-letters";
import { Stuck } from "./incident-list";

export default function IncidentsPage() {
  return (
    <>
      <PageHead title="Incidents"><p class="soft">What needs a person before it can go on.</p></PageHead>
      <Tabs
        label="Incidents and dead letters"
        tabs={[
          { name: "stuck", label: "Stuck", show: () => <Stuck /> },
          { name: "letters", label: "Dead letters", show: () => <Letters /> },
        ]}
      />
    </>
  );
}
