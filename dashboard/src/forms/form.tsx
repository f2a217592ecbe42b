// A form made from a schema: every field with its label, its help and what is wrong with it beside it.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { changed, type Draft, draftOf, type Fault } from "./draft";
import { sayDuration } from "./durations";
import { faultsByPlace, placesOf } from "./faults";
import { fieldId, type Path, pathText } from "./paths";
import type { ChoiceShape, Field, ListShape, ManyShape, NumberShape, Shape, TextShape, VariantsShape } from "./shape";
import "./forms.css";

interface FormFieldsProps {
  /** Before every id of the form, so that two forms on a page do not meet. */
  form: string;
  shape: Shape;
  draft: Draft;
  faults: readonly Fault[];
  onChange: (draft: Draft) => void;
  isDisabled?: boolean;
  /** Rises when somebody tried to send it: the first field with a fault takes the focus. */
  tries?: number;
}

interface Pen {
  form: string;
  isDisabled: boolean;
  faults: Map<string, Fault[]>;
  set: (path: Path, value: Draft) => void;
}

interface PartProps<S extends Shape> { shape: S; draft: Draft; path: Path; isRequired: boolean; pen: Pen }

const FEW = 5;

export function FormFields({ form, shape, draft, faults, onChange, isDisabled = false, tries = 0 }: FormFieldsProps) {
  const root = useRef<HTMLDivElement>(null);
  const byPlace = useMemo(() => faultsByPlace(faults, placesOf(shape, draft)), [faults, shape, draft]);
  const latest = useRef(draft);
  latest.current = draft;
  const pen: Pen = {
    form,
    isDisabled,
    faults: byPlace,
    set: (path, value) => {
      latest.current = changed(latest.current, path, value);
      onChange(latest.current);
    },
  };
  useEffect(() => {
    if (tries > 0) root.current?.querySelector<HTMLElement>("[aria-invalid='true'], .fault")?.focus();
  }, [tries, faults]);
  return (
    <div class="form-fields" ref={root}>
      {shape.kind === "group" ? <Members fields={shape.fields} draft={draft} path={[]} pen={pen} /> : <Part shape={shape} draft={draft} path={[]} isRequired pen={pen} />}
      {shape.kind === "group" && <Faults pen={pen} path={[]} />}
    </div>
  );
}

function Members({ fields, draft, path, pen }: { fields: Field[]; draft: Draft; path: Path; pen: Pen }) {
  const typed = (typeof draft === "object" && draft !== null && !Array.isArray(draft) ? draft : {}) as { [name: string]: Draft };
  return (
    <>
      {fields.map((field) => (
        <Part key={field.name} shape={field.shape} draft={typed[field.name] ?? null} path={[...path, field.name]} isRequired={field.isRequired} pen={pen} />
      ))}
    </>
  );
}

function Part(props: PartProps<Shape>) {
  const { shape } = props;
  switch (shape.kind) {
    case "text":
      return <TextPart {...props} shape={shape} />;
    case "number":
      return <NumberPart {...props} shape={shape} />;
    case "yes-no":
      return <YesNoPart {...props} />;
    case "choice":
      return <ChoicePart {...props} shape={shape} />;
    case "many":
      return <ManyPart {...props} shape={shape} />;
    case "fixed":
      return null;
    case "group":
      return (
        <Group {...props}>
          <Members fields={shape.fields} draft={props.draft} path={props.path} pen={props.pen} />
        </Group>
      );
    case "list":
      return <ListPart {...props} shape={shape} />;
    case "variants":
      return <VariantsPart {...props} shape={shape} />;
    case "raw":
      return <RawPart {...props} />;
  }
}

function TextPart({ shape, draft, path, isRequired, pen }: PartProps<TextShape>) {
  const value = String(draft ?? "");
  const change = (event: Event) => pen.set(path, (event.currentTarget as HTMLInputElement).value);
  const own = { ...controlProps(pen, path, isRequired, shape), class: "input", value, disabled: pen.isDisabled };
  const said = shape.format === "duration" ? sayDuration(value) : "";
  return (
    <Labelled shape={shape} path={path} isRequired={isRequired} pen={pen} help={said}>
      {shape.isLong ? <textarea {...own} rows={3} onInput={change} /> : <input {...own} type={inputType(shape) as "text"} placeholder={placeholderOf(shape)} onInput={change} />}
    </Labelled>
  );
}

type InputType = "text" | "date" | "datetime-local" | "time" | "email" | "url";

function inputType(shape: TextShape): InputType {
  const types: { [format: string]: InputType } = { date: "date", "date-time": "datetime-local", time: "time", email: "email", uri: "url" };
  return types[shape.format] ?? "text";
}

function placeholderOf(shape: TextShape): string | undefined {
  return shape.format === "duration" ? "P3D" : undefined;
}

function NumberPart({ shape, draft, path, isRequired, pen }: PartProps<NumberShape>) {
  return (
    <Labelled shape={shape} path={path} isRequired={isRequired} pen={pen} help={rangeOf(shape)}>
      <input
        {...controlProps(pen, path, isRequired, shape)} class="input short" type="text" inputMode={shape.isInteger ? "numeric" : "decimal"} autocomplete="off"
        value={String(draft ?? "")} disabled={pen.isDisabled} onInput={(event) => pen.set(path, event.currentTarget.value)}
      />
    </Labelled>
  );
}

function rangeOf({ minimum, maximum }: NumberShape): string {
  if (minimum !== null && maximum !== null) return `From ${minimum} to ${maximum}`;
  if (minimum !== null) return `At least ${minimum}`;
  return maximum !== null ? `At most ${maximum}` : "";
}

/** Yes and no stand side by side, neither chosen beforehand: a box left unticked would be an answer nobody gave. */
function YesNoPart({ shape, draft, path, isRequired, pen }: PartProps<Shape>) {
  const options = [{ label: "Yes", value: true }, { label: "No", value: false }];
  return (
    <Group shape={shape} path={path} isRequired={isRequired} pen={pen}>
      <Radios
        pen={pen} path={path} isRequired={isRequired} options={options.map((each) => ({ label: each.label, isChosen: draft === each.value, choose: () => pen.set(path, each.value) }))}
        clear={draft === null ? undefined : () => pen.set(path, null)}
      />
    </Group>
  );
}

function ChoicePart({ shape, draft, path, isRequired, pen }: PartProps<ChoiceShape>) {
  if (shape.options.length <= FEW) {
    const options = shape.options.map((each, index) => ({
      label: each.label, isChosen: draft === String(index), choose: () => pen.set(path, String(index)),
    }));
    return (
      <Group shape={shape} path={path} isRequired={isRequired} pen={pen}>
        <Radios pen={pen} path={path} isRequired={isRequired} options={options} clear={draft === "" || draft === null ? undefined : () => pen.set(path, "")} />
      </Group>
    );
  }
  return (
    <Labelled shape={shape} path={path} isRequired={isRequired} pen={pen}>
      <select {...controlProps(pen, path, isRequired, shape)} class="input" value={String(draft ?? "")} disabled={pen.isDisabled} onChange={(event) => pen.set(path, event.currentTarget.value)}>
        <option value="">{isRequired ? "Choose…" : "Not said"}</option>
        {shape.options.map((each, index) => <option key={index} value={String(index)}>{each.label}</option>)}
      </select>
    </Labelled>
  );
}

interface Radio { label: string; isChosen: boolean; choose: () => void }

function Radios({ pen, path, isRequired, options, clear }: { pen: Pen; path: Path; isRequired: boolean; options: Radio[]; clear: (() => void) | undefined }) {
  const id = fieldId(pen.form, path);
  const isInvalid = pen.faults.has(pathText(path));
  return (
    <div class="choices">
      {options.map((option, index) => (
        <label key={option.label + String(index)} class="check">
          <input
            type="radio" name={id} id={`${id}-${index}`} checked={option.isChosen} disabled={pen.isDisabled} onChange={option.choose}
            aria-invalid={isInvalid ? "true" : undefined} aria-describedby={isInvalid ? `${id}-fault` : undefined}
          />
          <span>{option.label}</span>
        </label>
      ))}
      {!isRequired && clear && !pen.isDisabled && <button type="button" class="button quiet tight" onClick={clear}>Clear</button>}
    </div>
  );
}

function ManyPart({ shape, draft, path, isRequired, pen }: PartProps<ManyShape>) {
  const chosen = new Set(Array.isArray(draft) ? draft.map(String) : []);
  const toggle = (index: string) => {
    const next = new Set(chosen);
    if (!next.delete(index)) next.add(index);
    pen.set(path, [...next].sort((one, other) => Number(one) - Number(other)));
  };
  return (
    <Group shape={shape} path={path} isRequired={isRequired} pen={pen}>
      <div class="choices">
        {shape.options.map((option, index) => (
          <label key={index} class="check">
            <input type="checkbox" checked={chosen.has(String(index))} disabled={pen.isDisabled} onChange={() => toggle(String(index))} />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </Group>
  );
}

function ListPart({ shape, draft, path, isRequired, pen }: PartProps<ListShape>) {
  const items = Array.isArray(draft) ? draft : [];
  const isFull = shape.most !== null && items.length >= shape.most;
  const without = (gone: number) => items.filter((_, index) => index !== gone);
  const noun = shape.item.title.toLowerCase() || "item";
  return (
    <Group shape={shape} path={path} isRequired={isRequired} pen={pen}>
      {items.length === 0 && <p class="soft small">None yet.</p>}
      {items.map((item, index) => (
        <div class="list-item" key={index}>
          <Part shape={{ ...shape.item, title: `${shape.item.title || "Item"} ${index + 1}` }} draft={item} path={[...path, index]} isRequired pen={pen} />
          {!pen.isDisabled && (
            <button type="button" class="button quiet tight" aria-label={`Remove ${noun} ${index + 1}`} onClick={() => pen.set(path, without(index))}>Remove</button>
          )}
        </div>
      ))}
      {!pen.isDisabled && (
        <button type="button" class="button tight add" disabled={isFull} onClick={() => pen.set(path, [...items, draftOf(shape.item)])}>Add {noun}</button>
      )}
    </Group>
  );
}

function VariantsPart({ shape, draft, path, isRequired, pen }: PartProps<VariantsShape>) {
  const { chosen, inner } = (draft ?? { chosen: "", inner: [] }) as { chosen: string; inner: Draft[] };
  const variant = shape.variants[Number(chosen)];
  return (
    <Group shape={shape} path={path} isRequired={isRequired} pen={pen}>
      <select
        {...controlProps(pen, path, isRequired, shape)} aria-label={shape.title || "Which form"} class="input" value={chosen} disabled={pen.isDisabled}
        onChange={(event) => pen.set([...path], { chosen: event.currentTarget.value, inner })}
      >
        <option value="">{isRequired ? "Choose…" : "Not said"}</option>
        {shape.variants.map((each, index) => <option key={index} value={String(index)}>{each.label}</option>)}
      </select>
      {chosen !== "" && variant && (
        <VariantPart shape={{ ...variant.shape, title: variant.label }} draft={inner[Number(chosen)] ?? null} path={path} pen={pen} put={(value) => pen.set(path, { chosen, inner: inner.map((each, index) => (index === Number(chosen) ? value : each)) })} />
      )}
    </Group>
  );
}

/** What is typed inside a variant is kept in the draft of the variant, though its place in the answer is the same. */
function VariantPart({ shape, draft, path, pen, put }: { shape: Shape; draft: Draft; path: Path; pen: Pen; put: (value: Draft) => void }) {
  const inside: Pen = { ...pen, form: `${pen.form}-v`, set: (place, value) => put(changed(draft, place.slice(path.length), value)) };
  return shape.kind === "group" ? <Members fields={shape.fields} draft={draft} path={path} pen={inside} /> : <Part shape={shape} draft={draft} path={path} isRequired pen={inside} />;
}

function RawPart({ shape, draft, path, isRequired, pen }: PartProps<Shape>) {
  return (
    <Labelled shape={shape} path={path} isRequired={isRequired} pen={pen} help="As JSON">
      <textarea
        {...controlProps(pen, path, isRequired, shape)} class="input mono" rows={5} spellcheck={false} value={String(draft ?? "")} disabled={pen.isDisabled}
        onInput={(event) => pen.set(path, event.currentTarget.value)}
      />
    </Labelled>
  );
}

function controlProps(pen: Pen, path: Path, isRequired: boolean, shape: Shape) {
  const id = fieldId(pen.form, path);
  const isInvalid = pen.faults.has(pathText(path));
  const described = [isInvalid ? `${id}-fault` : "", shape.description ? `${id}-help` : ""].filter(Boolean).join(" ");
  return {
    id, name: pathText(path), "aria-required": isRequired, "aria-invalid": isInvalid ? ("true" as const) : undefined,
    "aria-describedby": described || undefined,
  };
}

interface AroundProps { shape: Shape; path: Path; isRequired: boolean; pen: Pen; help?: string; children?: preact.ComponentChildren }

function Labelled({ shape, path, isRequired, pen, help = "", children }: AroundProps) {
  const id = fieldId(pen.form, path);
  return (
    <div class="field">
      <label for={id}>{shape.title || "Answer"} <Needed isRequired={isRequired} /></label>
      {shape.description && <span class="help" id={`${id}-help`}>{shape.description}</span>}
      {children}
      {help && <span class="help">{help}</span>}
      <Faults pen={pen} path={path} />
    </div>
  );
}

function Group({ shape, path, isRequired, pen, children }: AroundProps) {
  return (
    <fieldset class={shape.kind === "group" || shape.kind === "list" ? "field nesting" : "field"}>
      <legend>{shape.title || "Answer"} <Needed isRequired={isRequired} /></legend>
      {shape.description && <span class="help">{shape.description}</span>}
      {shape.kind === "group" || shape.kind === "list" ? <div class="nested">{children}</div> : children}
      <Faults pen={pen} path={path} />
    </fieldset>
  );
}

function Needed({ isRequired }: { isRequired: boolean }) {
  return isRequired ? <span class="needed" title="required"><span aria-hidden="true">*</span><span class="unseen">required</span></span> : null;
}

function Faults({ pen, path }: { pen: Pen; path: Path }) {
  const found = pen.faults.get(pathText(path));
  if (!found) return null;
  return (
    <div id={`${fieldId(pen.form, path)}-fault`} class="fault" tabIndex={-1}>
      {found.map((fault, index) => <div key={index}>{fault.message}{fault.hint ? ` ${fault.hint}` : ""}</div>)}
    </div>
  );
}
