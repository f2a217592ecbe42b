// Two versions side by side: data and fields that were read out, with every difference named and marked.
import { useState } from "preact/hooks";
import { get, mayDo, type Problem } from "../../api/client";
import type { ContentView, DocumentView, VersionView } from "../../api/paper-shapes";
import type { Json } from "../../api/shapes";
import { asProblem } from "../../live/resource";
import { ProblemBox } from "../../parts/load-states";
import { Badge, type Tone } from "../../parts/state-badge";
import { query, setQuery } from "../../router";
import { type Change, type ComparedField, comparedFields } from "./compared-fields";
import { sizeText } from "./file-size";

export function Comparison({ document }: { document: DocumentView }) {
  const numbers = document.versions.map((each) => each.number);
  const left = chosen("left", numbers, numbers[numbers.length - 2] ?? 1);
  const right = chosen("right", numbers, numbers[numbers.length - 1] ?? 1);
  if (!mayDo("document.content")) return <p class="notice">You may see that this document exists, but not what it holds.</p>;
  return (
    <div class="stack">
      <div class="row">
        <Choice label="Version" field="left" value={left} numbers={numbers} />
        <Choice label="beside" field="right" value={right} numbers={numbers} />
      </div>
      <Compared key={`${left}-${right}`} document={document} left={left} right={right} />
    </div>
  );
}

function chosen(field: string, numbers: number[], otherwise: number): number {
  const asked = Number(query.value.get(field));
  return numbers.includes(asked) ? asked : otherwise;
}

function Choice({ label, field, value, numbers }: { label: string; field: string; value: number; numbers: number[] }) {
  return (
    <label class="row">{label}
      <select class="input fit" value={String(value)} onChange={(event) => setQuery({ [field]: event.currentTarget.value })}>{numbers.map((each) => <option key={each} value={String(each)}>{each}</option>)}</select>
    </label>
  );
}

function Compared({ document, left, right }: { document: DocumentView; left: number; right: number }) {
  const [given, setGiven] = useState<[ContentView, ContentView]>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const read = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const ask = (number: number) => get<ContentView>(`/documents/${document.id}/versions/${number}`);
      setGiven([await ask(left), await ask(right)]);
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  if (problem) return <ProblemBox problem={problem} retry={() => void read()} />;
  if (!given) return <p class="row"><button type="button" class="button primary" disabled={isBusy || left === right} onClick={() => void read()}>{isBusy ? "Reading…" : `Compare ${left} and ${right}`}</button><span class="soft small">The journal keeps who read them, and when.</span></p>;
  const [one, other] = given;
  const about = comparedFields(factsOf(document.versions[left - 1], one), factsOf(document.versions[right - 1], other));
  const data = comparedFields(one.data, other.data);
  const extracted = comparedFields(one.extracted, other.extracted);
  return (
    <div class="stack">
      <Fields title="About the versions" fields={about} left={left} right={right} />
      {data.length > 0 && <Fields title="Structured data" fields={data} left={left} right={right} />}
      {extracted.length > 0 && <Fields title="Fields read out" fields={extracted} left={left} right={right} />}
    </div>
  );
}

function factsOf(version: VersionView | undefined, content: ContentView): Json {
  if (!version) return {};
  const facts: [string, string | null | undefined][] = [
    ["status", version.status], ["handed in by", version.received_by], ["file", content.name], ["type of file", version.blob?.media_type],
    ["size", version.blob ? sizeText(version.blob.size) : null], ["valid from", version.valid_from], ["valid until", version.valid_to], ["reason", version.reason?.code],
  ];
  return Object.fromEntries(facts.filter((each): each is [string, string] => Boolean(each[1])));
}

const MARKS: Record<Change, readonly [Tone, string]> = { same: ["quiet", "="], changed: ["wait", "≠"], added: ["good", "+"], removed: ["bad", "−"] };

function Fields({ title, fields, left, right }: { title: string; fields: ComparedField[]; left: number; right: number }) {
  const different = fields.filter((each) => each.change !== "same").length;
  return (
    <div class="scroll">
      <table class="table compared folds">
        <caption>{title}: {different === 0 ? "no difference" : different === 1 ? "one difference" : `${different} differences`}</caption>
        <thead><tr><th scope="col">Field</th><th scope="col">Version {left}</th><th scope="col">Version {right}</th><th scope="col">Change</th></tr></thead>
        <tbody>
          {fields.map((each) => (
            <tr key={each.path} class={each.change}>
              <th scope="row">{each.path}</th>
              <td data-label={`Version ${left}`}>{each.before === "" ? <span class="soft">–</span> : each.before}</td>
              <td data-label={`Version ${right}`}>{each.after === "" ? <span class="soft">–</span> : each.after}</td>
              <td data-label="Change"><Badge tone={MARKS[each.change][0]} sign={MARKS[each.change][1]}>{each.change}</Badge></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
