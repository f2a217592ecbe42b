// A form made from a schema: every field with its label, its help and what is wrong with it beside it.
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Fault } from "./form-answer";
import { Faults, type Pen } from "./field-frame";
import { changed, type Draft } from "./form-draft";
import { faultsByPlace, placesOf } from "./field-faults";
import { Members, Part } from "./schema-field";
import { pathText } from "./value-paths";
import type { Shape } from "./schema-shape";
import "./forms.css";

interface FormFieldsProps {
  /** Before every id of the form, so that two forms on a page do not meet. */
  form: string;
  shape: Shape;
  draft: Draft;
  faults: readonly Fault[];
  /** `place` is the field when something was typed into it, empty when it was changed otherwise. */
  onChange: (draft: Draft, place: string) => void;
  isDisabled?: boolean;
  /** Results that a field may take instead of a value, as paths: `case.id`. Without it none may. */
  references?: readonly string[];
  /** Rises when somebody tried to send it: the first field with a fault takes the focus. */
  tries?: number;
}

export function FormFields({ form, shape, draft, faults, onChange, isDisabled = false, references, tries = 0 }: FormFieldsProps) {
  const root = useRef<HTMLDivElement>(null);
  const byPlace = useMemo(() => faultsByPlace(faults, placesOf(shape, draft)), [faults, shape, draft]);
  const latest = useRef(draft);
  latest.current = draft;
  const pen: Pen = {
    form,
    isDisabled,
    faults: byPlace,
    references,
    set: (path, value) => {
      latest.current = changed(latest.current, path, value);
      onChange(latest.current, typeof value === "string" ? pathText(path) : "");
    },
  };
  useEffect(() => {
    if (tries > 0) root.current?.querySelector<HTMLElement>("[aria-invalid='true'], .fault")?.focus();
  }, [tries, faults]);
  return (
    <div class="form-fields" ref={root}>
      {shape.kind === "group" ? <Members fields={shape.fields} draft={draft} path={[]} pen={pen} /> : <Part shape={shape} draft={draft} path={[]} isRequired pen={pen} />}
      {shape.kind === "group" && shape.fields.length === 0 && <p class="soft">Nothing has to be filled in.</p>}
      {shape.kind === "group" && <Faults pen={pen} path={[]} />}
    </div>
  );
}
