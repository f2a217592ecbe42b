// What stands around every field: its label, its help, what is wrong with it, and the way to a result instead of a value.
import type { ComponentChildren } from "preact";
import type { Fault } from "./form-answer";
import { type Draft, draftOf } from "./form-draft";
import { fieldId, type Path, pathText } from "./value-paths";
import { Reference } from "./result-references";
import type { Shape } from "./schema-shape";

/** What all fields of one form share. */
export interface Pen {
  form: string;
  isDisabled: boolean;
  faults: Map<string, Fault[]>;
  /** Results that a field may take instead of a value, as paths: `case.id`. Without it none may. */
  references: readonly string[] | undefined;
  set: (path: Path, value: Draft) => void;
}

export interface PartProps<S extends Shape> { shape: S; draft: Draft; path: Path; isRequired: boolean; pen: Pen }

export function controlProps(pen: Pen, path: Path, isRequired: boolean, shape: Shape) {
  const id = fieldId(pen.form, path);
  const isInvalid = pen.faults.has(pathText(path));
  const described = [isInvalid ? `${id}-fault` : "", shape.description ? `${id}-help` : ""].filter(Boolean).join(" ");
  return {
    id, name: pathText(path), "aria-required": isRequired, "aria-invalid": isInvalid ? ("true" as const) : undefined,
    "aria-describedby": described || undefined,
  };
}

interface AroundProps {
  shape: Shape; path: Path; isRequired: boolean; pen: Pen; help?: string; children?: ComponentChildren;
  /** Whether a result stands here instead of a value. */
  isReferring?: boolean;
}

export function Labelled({ shape, path, isRequired, pen, help = "", isReferring = false, children }: AroundProps) {
  const id = fieldId(pen.form, path);
  return (
    <div class="field">
      <span class="row"><label for={id}>{shape.title || "Answer"} <Needed isRequired={isRequired} /></label><Refer shape={shape} path={path} pen={pen} isReferring={isReferring} /></span>
      {shape.description && <span class="help" id={`${id}-help`}>{shape.description}</span>}
      {children}
      {help && <span class="help">{help}</span>}
      <Faults pen={pen} path={path} />
    </div>
  );
}

export function Group({ shape, path, isRequired, pen, children }: AroundProps) {
  const isNesting = shape.kind === "group" || shape.kind === "list";
  return (
    <fieldset class={isNesting ? "field nesting" : "field"}>
      <legend>{shape.title || "Answer"} <Needed isRequired={isRequired} /></legend>
      <Refer shape={shape} path={path} pen={pen} isReferring={false} />
      {shape.description && <span class="help">{shape.description}</span>}
      {isNesting ? <div class="nested">{children}</div> : children}
      <Faults pen={pen} path={path} />
    </fieldset>
  );
}

/** Changes between a value and a result. The whole of an answer is never a reference. */
function Refer({ shape, path, pen, isReferring }: { shape: Shape; path: Path; pen: Pen; isReferring: boolean }) {
  if (pen.references === undefined || pen.isDisabled || path.length === 0) return null;
  const change = () => {
    pen.set(path, isReferring ? draftOf(shape) : new Reference(""));
    requestAnimationFrame(() => document.getElementById(fieldId(pen.form, path))?.focus());
  };
  const words = isReferring ? "Write a value" : "Use a result";
  return (
    <button type="button" class="button tight quiet push refer" aria-label={`${words} for ${shape.title || "this"}`} onClick={change}>
      {words}
    </button>
  );
}

function Needed({ isRequired }: { isRequired: boolean }) {
  return isRequired ? <span class="needed" title="required"><span aria-hidden="true">*</span><span class="unseen">required</span></span> : null;
}

export function Faults({ pen, path }: { pen: Pen; path: Path }) {
  const found = pen.faults.get(pathText(path));
  if (!found) return null;
  return (
    <div id={`${fieldId(pen.form, path)}-fault`} class="fault" tabIndex={-1}>
      {found.map((fault, index) => <div key={index}>{fault.message}{fault.hint ? ` ${fault.hint}` : ""}</div>)}
    </div>
  );
}
