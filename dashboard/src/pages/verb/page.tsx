// One verb: its sentences, what it takes and gives, how it is carried out and what can go wrong.
import { get, mayDo } from "../../api/client";
import type { VerbDetail } from "../../api/process-shapes";
import type { Json, Schema } from "../../api/shapes";
import { type Field, shapeOf } from "../../forms/schema-shape";
import { useResource } from "../../live/resource";
import { Badge } from "../../parts/state-badge";
import { JsonTree } from "../../parts/json-tree";
import { PageHead } from "../../parts/page-head";
import { Loaded } from "../../parts/load-states";
import { Link, type PageProps, query, setQuery } from "../../router";
import { factsOf } from "./execution-facts";
import { kindText } from "./field-types";
import "./verb.css";

export default function VerbPage({ params }: PageProps) {
  const name = params["name"] ?? "";
  const version = query.value.get("version");
  const found = useResource((signal) => get<VerbDetail>(`/verbs/${encodeURIComponent(name)}`, { query: { version }, signal }), [name, version]);
  return <Loaded from={found} lines={10}>{(verb) => <Verb verb={verb} />}</Loaded>;
}

function Verb({ verb }: { verb: VerbDetail }) {
  const actions = mayDo("verb.call") && <Link class="button primary" to={`/compose?verb=${encodeURIComponent(verb.name)}`}>Use it in a runbook</Link>;
  return (
    <>
      <PageHead title={<code>{verb.name}</code>} actions={actions}>
        <p>{verb.description}</p>
        <span class="row">
          <Badge tone={verb.kind === "durable" ? "odd" : "quiet"}>{verb.kind}</Badge>
          {verb.consequence !== "benign" && <Badge tone="wait">{verb.consequence.replaceAll("_", " ")}</Badge>}
          {verb.domain && <span class="soft">{verb.domain}</span>}
          {verb.versions.length > 1 ? <VersionChoice verb={verb} /> : <span class="soft">version {verb.version}</span>}
        </span>
      </PageHead>
      <div class="stack">
        <Sentences verb={verb} />
        <div class="grid">
          <Takes title="It takes" schema={verb.input_schema} />
          <Takes title="It gives" schema={verb.output_schema} />
        </div>
        <Execution verb={verb} />
      </div>
    </>
  );
}

function VersionChoice({ verb }: { verb: VerbDetail }) {
  return (
    <label class="row">version
      <select class="input fit" value={String(verb.version)} onChange={(event) => setQuery({ version: event.currentTarget.value })}>
        {verb.versions.map((each) => <option key={each} value={String(each)}>{each}</option>)}
      </select>
    </label>
  );
}

function Sentences({ verb }: { verb: VerbDetail }) {
  const { step, summary, clarify } = verb.sentences;
  const lines: [string, string[]][] = [["As a step", list(step)], ["In short", list(summary)]];
  const asked = Object.entries(clarify ?? {});
  if (lines.every(([, said]) => said.length === 0) && asked.length === 0) return null;
  return (
    <section class="card" aria-labelledby="sentences-title">
      <header><h2 id="sentences-title">Sentences</h2></header>
      <dl class="inside facts">
        {lines.filter(([, said]) => said.length > 0).map(([label, said]) => [<dt key={label}>{label}</dt>, <dd key={`${label}:`}>{said.map((each) => <div key={each}>“{each}”</div>)}</dd>])}
        {asked.map(([field, question]) => [<dt key={field}>When <code>{field}</code> is missing</dt>, <dd key={`${field}:`}>“{question}”</dd>])}
      </dl>
    </section>
  );
}

function list(value: string | string[] | undefined): string[] {
  return value === undefined || value === null || value === "" ? [] : Array.isArray(value) ? value : [value];
}

function Takes({ title, schema }: { title: string; schema: Schema | null }) {
  const shape = shapeOf(schema ?? {});
  const fields = shape.kind === "group" ? shape.fields : [];
  return (
    <section class="card" aria-label={title}>
      <header><h2>{title}</h2></header>
      <div class="inside stack">
        {schema === null || (fields.length === 0 && Object.keys(schema).length === 0) ? <p class="soft">Nothing in particular.</p> : null}
        {fields.length > 0 && <Fields fields={fields} />}
        {schema !== null && <details><summary class="soft small">As JSON Schema</summary><JsonTree value={schema as Json} label={`${title}, as JSON Schema`} /></details>}
      </div>
    </section>
  );
}

function Fields({ fields }: { fields: Field[] }) {
  return (
    <ul class="schema-fields">
      {fields.map((field) => (
        <li key={field.name}>
          <code>{field.name}</code> <span class="soft">{kindText(field.shape)}{field.isRequired ? ", required" : ""}{field.shape.fallback !== undefined ? `, else ${JSON.stringify(field.shape.fallback)}` : ""}</span>
          {field.shape.description && <div class="small">{field.shape.description}</div>}
          {field.shape.kind === "group" && <Fields fields={field.shape.fields} />}
          {field.shape.kind === "list" && field.shape.item.kind === "group" && <Fields fields={field.shape.item.fields} />}
        </li>
      ))}
    </ul>
  );
}

function Execution({ verb }: { verb: VerbDetail }) {
  const told = factsOf(verb.execution);
  const raises = verb.contract?.may_raise;
  return (
    <section class="card" aria-labelledby="execution-title">
      <header><h2 id="execution-title">How it is carried out</h2></header>
      <div class="inside stack">
        <dl class="facts">
          <dt>Kind</dt><dd>{verb.kind === "durable" ? "durable: it may wait for days and survives restarts" : "sync: it ends at once"}</dd>
          {verb.process && <><dt>Process</dt><dd><Link to={`/definitions/processes/${encodeURIComponent(verb.process)}`}>{verb.process}</Link></dd></>}
          {told.map(([name, text]) => [<dt key={name}>{name}</dt>, <dd key={`${name}:`}>{text}</dd>])}
          <dt>Errors</dt><dd>{raises === undefined ? <span class="soft">It promises nothing about what it may raise.</span> : raises.length === 0 ? "It raises no business error." : raises.map((each) => <code key={each} class="raise">{each}</code>)}</dd>
          {verb.writes.length > 0 && <><dt>Changes</dt><dd>{verb.writes.join(", ")}</dd></>}
          {verb.index.length > 0 && <><dt>Found by</dt><dd>{verb.index.join(", ")}</dd></>}
        </dl>
        <details><summary class="soft small">Everything that is declared</summary><JsonTree value={verb.execution} label="Execution" /><p class="soft small"><code>{verb.content_hash}</code></p></details>
      </div>
    </section>
  );
}
