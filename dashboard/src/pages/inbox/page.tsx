// The inbox: what people are asked, first of all what is for me and my groups.
import { mayDo, session } from "../../api/client";
import type { Task } from "../../api/process-shapes";
import { List } from "../../lists/list";
import { usePages } from "../../lists/paged-list";
import { type Column, Table } from "../../lists/table";
import { Badge } from "../../parts/state-badge";
import { PageHead } from "../../parts/page-head";
import { Blank } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { capital } from "../../parts/titles";
import { Link, query, setQuery } from "../../router";
import { DueClock } from "../../time/due-clock";
import { forWhom } from "./task-assignment";

const VIEWS = [
  { name: "", label: "For me", query: { mine: true } },
  { name: "unclaimed", label: "Nobody has taken", query: { mine: true, unclaimed: true } },
  { name: "overdue", label: "Overdue", query: { overdue: true } },
  { name: "all", label: "Everybody's", query: {} },
] as const;

export default function InboxPage() {
  const chosen = VIEWS.find((each) => each.name === (query.value.get("view") ?? "")) ?? VIEWS[0];
  const group = query.value.get("group") ?? "";
  const asked = group ? { group } : chosen.query;
  const pages = usePages<Task>("/tasks", asked, (event) => event.kind === "instance" || event.kind === "runbook");
  const groups = session.value?.groups ?? [];
  return (
    <>
      <PageHead title="Inbox"><p class="soft">What waits for a person.</p></PageHead>
      <div class="filters">
        <div class="chips" role="group" aria-label="Whose tasks">
          {VIEWS.map((each) => (
            <button key={each.name} type="button" class="chip" aria-pressed={!group && each === chosen} onClick={() => setQuery({ view: each.name, group: null })}>{each.label}</button>
          ))}
          {groups.map((each) => (
            <button key={`group ${each}`} type="button" class="chip" aria-pressed={group === each} onClick={() => setQuery({ view: null, group: each })}>Group {each}</button>
          ))}
        </div>
      </div>
      <List of={pages} label="Tasks" nouns={["task", "tasks"]} none={<None isMine={!group && chosen.name === ""} />}>
        {(rows) => <Table caption="Tasks, oldest first" columns={COLUMNS} rows={rows} keyOf={(row) => row.key} />}
      </List>
    </>
  );
}

const COLUMNS: Column<Task>[] = [
  {
    label: "Task",
    cell: (task) => (
      <>
        <Link to={`/inbox/${encodeURIComponent(task.key)}`}>{capital(task.name || task.element)}</Link>
        <div class="soft small">{task.process}</div>
      </>
    ),
  },
  { label: "For", cell: (task) => <WhoHas task={task} /> },
  { label: "Due", cell: (task) => <DueClock dueAt={task.due_at} since={task.since} /> },
  { label: "Asked", cell: (task) => <Ago at={task.since} /> },
];

function WhoHas({ task }: { task: Task }) {
  return (
    <span class="row">
      {task.claimed_by ? <Badge tone="busy" sign="◐">{task.claimed_by === session.value?.principal ? "you have it" : `${task.claimed_by} has it`}</Badge> : <span>{forWhom(task)}</span>}
      {task.proposal && <Badge tone="odd" sign="✎">an agent proposes</Badge>}
      {task.four_eyes && <Badge tone="quiet">four eyes</Badge>}
    </span>
  );
}

function None({ isMine }: { isMine: boolean }) {
  return (
    <Blank title={isMine ? "Nothing waits for you" : "There are no such tasks"}>
      <p>A task appears when a process or a runbook asks a person, without reloading.</p>
      {isMine && mayDo("task.list") && <button type="button" class="button" onClick={() => setQuery({ view: "all" })}>See everybody's</button>}
    </Blank>
  );
}
