// Fields in which something is typed: text, numbers, JSON, and the path of a result.
import { controlProps, Labelled, type PartProps } from "./field-frame";
import { sayDuration } from "./durations";
import { fieldId } from "./value-paths";
import { Reference } from "./result-references";
import type { NumberShape, Shape, TextShape } from "./schema-shape";

export function TextPart({ shape, draft, path, isRequired, pen }: PartProps<TextShape>) {
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

export function NumberPart({ shape, draft, path, isRequired, pen }: PartProps<NumberShape>) {
  return (
    <Labelled shape={shape} path={path} isRequired={isRequired} pen={pen} help={rangeOf(shape)}>
      <input
        {...controlProps(pen, path, isRequired, shape)} class="input short" type="text" inputMode={shape.isInteger ? "numeric" : "decimal"} autocomplete="off"
        value={String(draft ?? "")} disabled={pen.isDisabled} onInput={(event) => pen.set(path, event.currentTarget.value)}
      />
    </Labelled>
  );
}

function rangeOf({ minimum, maximum, above, below }: NumberShape): string {
  if (above !== null) return `More than ${above}`;
  if (below !== null) return `Less than ${below}`;
  if (minimum !== null && maximum !== null) return `From ${minimum} to ${maximum}`;
  if (minimum !== null) return `At least ${minimum}`;
  return maximum !== null ? `At most ${maximum}` : "";
}

export function RawPart({ shape, draft, path, isRequired, pen }: PartProps<Shape>) {
  return (
    <Labelled shape={shape} path={path} isRequired={isRequired} pen={pen} help="As JSON">
      <textarea
        {...controlProps(pen, path, isRequired, shape)} class="input mono" rows={5} spellcheck={false} value={String(draft ?? "")} disabled={pen.isDisabled}
        onInput={(event) => pen.set(path, event.currentTarget.value)}
      />
    </Labelled>
  );
}

/** Instead of a value, a part of what an earlier step results in. */
export function ReferencePart({ shape, draft, path, isRequired, pen }: PartProps<Shape> & { draft: Reference }) {
  const list = `${fieldId(pen.form, path)}-results`;
  return (
    <Labelled shape={shape} path={path} isRequired={isRequired} pen={pen} isReferring>
      <input
        {...controlProps(pen, path, isRequired, shape)} class="input mono" list={list} placeholder="step.field" autocomplete="off" value={draft.path}
        disabled={pen.isDisabled} onInput={(event) => pen.set(path, new Reference(event.currentTarget.value.trim()))}
      />
      <datalist id={list}>{(pen.references ?? []).map((each) => <option key={each} value={each} />)}</datalist>
    </Labelled>
  );
}
