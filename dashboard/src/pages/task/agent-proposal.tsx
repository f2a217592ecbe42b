// What an agent proposes: shown with its reasons, accepted by a person or not at all.
import { useState } from "preact/hooks";
import { mayDo, post, session } from "../../api/client";
import type { Proposal, Task } from "../../api/process-shapes";
import { Badge } from "../../parts/state-badge";
import { Confirm } from "../../parts/dialog";
import { JsonTree } from "../../parts/json-tree";

interface ProposalProps { path: string; task: Task; proposal: Proposal; onAnswered: () => void; onStale: () => void }

export function ProposalCard({ path, task, proposal, onAnswered, onStale }: ProposalProps) {
  const [isOpen, setOpen] = useState(false);
  const mayAccept = mayDo("task.accept") && session.value?.kind === "person";
  const accept = async () => {
    try {
      await post(`${path}/accept`, { seen: task.seen ?? "" });
    } catch (error) {
      onStale();
      throw error;
    }
    onAnswered();
  };
  return (
    <section class="card proposal" aria-labelledby="proposal-title">
      <header>
        <h2 id="proposal-title">{proposal.agent} proposes</h2>
        {typeof proposal.confidence === "number" && <Badge tone="odd">{Math.round(proposal.confidence * 100)} % sure</Badge>}
      </header>
      <div class="inside stack">
        {proposal.why && <p>{proposal.why}</p>}
        <JsonTree value={proposal.data} label="What is proposed" />
        {mayAccept ? <div class="row"><button type="button" class="button primary" onClick={() => setOpen(true)}>Accept</button><span class="soft small">or answer otherwise below</span></div> : <p class="soft small">A person has to accept it.</p>}
      </div>
      {isOpen && (
        <Confirm title="Accept what the agent proposes?" act="Accept" reason="none" onAct={accept} onClose={() => setOpen(false)}>
          <p>It becomes your answer, under your name.</p>
        </Confirm>
      )}
    </section>
  );
}
