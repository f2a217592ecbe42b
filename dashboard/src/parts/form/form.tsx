// The form of a schema on the page: each field with its label, its help and what is wrong with it.
import { useId, useState } from "preact/hooks";
import type { FieldError, Json } from "../../api/shapes";
import { type Field, initialOf, pathOf, Reference, type Value } from "./model";

export interface SchemaFormProps {
  field: Field;
  value: Value;
  onChange: (value: Value) => void;
  errors?: FieldError[];
  /** Earlier results that a field may take instead of a value, as paths: `case.id`. Without it none may. */
  references?: string[];
}

export function SchemaForm({ field, value, onChange, errors = [], references }: SchemaFormProps) {
  const told = errors.map((each) => ({ ...each, path: pathOf(each.path) }));
  return <Body field={field} value={value} onChange={onChange} path="" errors={told} references={references} />;
}

interface PartProps { field: Field; value: Value; onChange: (value: Value) => void; path: string; errors: FieldError[]; references: string[] | undefined }

function Body({ field, value, onChange, path, errors, references }: PartProps) {
  if (field.kind !== "object") return <Part field={field} value={value} onChange={onChange} path={path} errors={errors} references={references} />;
  const inside = (value && typeof value === "object" && !Array.isArray(value) && !(value instanceof Reference) ? value : {}) as Record<string, Value>;
  return (
    <div class="stack">
      {field.fields.map((each) => (
        <Part
          key={each.name} field={each} value={inside[each.name]} path={path ? `${path}.${each.name}` : each.name} errors={errors} references={references}
          onChange={(next) => onChange({ ...inside, [each.name]: next })}
        />
      ))}
      {field.fields.length === 0 && <p class="soft">Nothing has to be filled in.</p>}
    </div>
  );
}

function Part(props: PartProps) {
  const { field, value, onChange, path, errors, references } = props;
  const id = useId();
  const faults = errors.filter((each) => each.path === path);
  const describedBy = [field.help && `${id}-help`, faults.length && `${id}-fault`].filter(Boolean).join(" ") || undefined;
  const needed = field.isRequired && <span class="needed" aria-hidden="true"> *</span>;
  const isGroup = field.kind === "object" || field.kind === "list";
  const refers = references && (
    <button type="button" class="button tight quiet push" onClick={() => onChange(value instanceof Reference ? initialOf(field) : new Reference(""))}>
      {value instanceof Reference ? "Write a value" : "Use a result"}
    </button>
  );
  const notes = (
    <>
      {field.help && <span class="help" id={`${id}-help`}>{field.help}</span>}
      {faults.length > 0 && <span class="fault" id={`${id}-fault`}>{faults.map((each) => [each.message, each.hint].filter(Boolean).join(" ")).join(" ")}</span>}
    </>
  );
  if (value instanceof Reference) {
    return (
      <div class="field">
        <span class="row"><label for={id}>{field.label}{needed}</label>{refers}</span>
        <input id={id} class="input mono" list={`${id}-list`} value={value.path} placeholder="step.field" aria-describedby={describedBy} aria-invalid={faults.length > 0} onInput={(event) => onChange(new Reference(event.currentTarget.value.trim()))} />
        <datalist id={`${id}-list`}>{(references ?? []).map((each) => <option key={each} value={each} />)}</datalist>
        {notes}
      </div>
    );
  }
  if (isGroup) {
    return (
      <div class="field" role="group" aria-labelledby={`${id}-label`} aria-describedby={describedBy}>
        <span class="row"><span class="label" id={`${id}-label`}>{field.label}{needed}</span>{refers}</span>
        {notes}
        <div class="nested">{field.kind === "object" ? <Body {...props} /> : <List {...props} />}</div>
      </div>
    );
  }
  const attributes = { id, "aria-describedby": describedBy, "aria-invalid": faults.length > 0, "aria-required": field.isRequired };
  return (
    <div class="field">
      <span class="row"><label for={id}>{field.label}{needed}</label>{refers}</span>
      <Entry field={field} value={value} onChange={onChange} attributes={attributes} />
      {notes}
    </div>
  );
}

interface EntryProps { field: Field; value: Value; onChange: (value: Value) => void; attributes: Record<string, unknown> }

function Entry({ field, value, onChange, attributes }: EntryProps) {
  switch (field.kind) {
    case "choice":
      return <Choice field={field} value={value} onChange={onChange} attributes={attributes} />;
    case "boolean":
      return (
        <select {...attributes} class="input" value={value === undefined ? "" : String(value)} onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value === "true")}>
          <option value="">Choose…</option><option value="true">Yes</option><option value="false">No</option>
        </select>
      );
    case "number":
      return <NumberEntry value={value} onChange={onChange} attributes={attributes} />;
    case "json":
      return <JsonEntry value={value} onChange={onChange} attributes={attributes} />;
    default:
      return <TextEntry field={field} value={value} onChange={onChange} attributes={attributes} />;
  }
}

const INPUT_TYPES: Record<string, "email" | "date" | "url" | "time"> = { email: "email", date: "date", uri: "url", time: "time" };

function TextEntry({ field, value, onChange, attributes }: EntryProps) {
  const shown = typeof value === "string" ? value : "";
  const change = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  const isLong = Number(field.schema["maxLength"] ?? 0) > 200 || /comment|note|reason|message|text|description|summary/.test(field.name);
  if (isLong && !field.format) return <textarea {...attributes} class="input" rows={3} value={shown} onInput={change} />;
  const type = { type: INPUT_TYPES[field.format] ?? "text" } as { type: "text" };
  return <input {...attributes} {...type} class="input" autocomplete="off" value={shown} onInput={change} />;
}

function NumberEntry({ value, onChange, attributes }: Omit<EntryProps, "field">) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (typeof value === "number" ? String(value) : "");
  const change = (text: string) => {
    setTyped(text);
    onChange(text.trim() === "" ? undefined : Number.isNaN(Number(text)) ? text : Number(text));
  };
  return <input {...attributes} class="input number" inputMode="decimal" value={shown} onInput={(event) => change(event.currentTarget.value)} />;
}

function JsonEntry({ value, onChange, attributes }: Omit<EntryProps, "field">) {
  const [typed, setTyped] = useState<string | null>(null);
  const [isBad, setBad] = useState(false);
  const change = (text: string) => {
    setTyped(text);
    try {
      onChange(text.trim() === "" ? undefined : (JSON.parse(text) as Value));
      setBad(false);
    } catch {
      setBad(true);
    }
  };
  return (
    <>
      <textarea {...attributes} class="input mono" rows={3} spellcheck={false} value={typed ?? (value === undefined ? "" : JSON.stringify(value, null, 2))} onInput={(event) => change(event.currentTarget.value)} />
      <span class="help">JSON, as in {'"text"'}, 12 or {'{"name": "value"}'}</span>
      {isBad && <span class="fault" role="status">That is not JSON yet.</span>}
    </>
  );
}

function Choice({ field, value, onChange, attributes }: EntryProps) {
  const chosen = field.options.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
  const word = (option: Json) => (typeof option === "string" ? option.replace(/[_-]/g, " ") : JSON.stringify(option));
  return (
    <select {...attributes} class="input" value={String(chosen)} onChange={(event) => onChange(field.options[Number(event.currentTarget.value)] as Value)}>
      <option value="-1">Choose…</option>
      {field.options.map((option, index) => <option key={index} value={String(index)}>{word(option)}</option>)}
    </select>
  );
}

function List({ field, value, onChange, path, errors, references }: PartProps) {
  const items = Array.isArray(value) ? value : [];
  const item = field.item;
  if (!item) return null;
  const set = (index: number, next: Value) => onChange(items.map((each, at) => (at === index ? next : each)));
  return (
    <>
      {items.map((each, index) => (
        <div key={index} class="stack tight">
          <Part field={{ ...item, label: `${field.label} ${index + 1}` }} value={each} path={`${path}[${index}]`} errors={errors} references={references} onChange={(next) => set(index, next)} />
          <button type="button" class="button tight" onClick={() => onChange(items.filter((_, at) => at !== index))}>Remove {field.label.toLowerCase()} {index + 1}</button>
        </div>
      ))}
      <button type="button" class="button tight" onClick={() => onChange([...items, initialOf(item) ?? (item.kind === "object" ? {} : item.kind === "list" ? [] : "")])}>Add {field.label.toLowerCase()}</button>
    </>
  );
}
