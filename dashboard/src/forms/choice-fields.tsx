// Fields in which something is chosen: yes or no, one of several, some of several.
import { controlProps, Group, Labelled, type PartProps, type Pen } from "./field-frame";
import { fieldId, type Path, pathText } from "./value-paths";
import type { ChoiceShape, ManyShape, Shape } from "./schema-shape";

const FEW = 5;

/** Yes and no stand side by side, neither chosen beforehand: a box left unticked would be an answer nobody gave. */
export function YesNoPart({ shape, draft, path, isRequired, pen }: PartProps<Shape>) {
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

export function ChoicePart({ shape, draft, path, isRequired, pen }: PartProps<ChoiceShape>) {
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

export function ManyPart({ shape, draft, path, isRequired, pen }: PartProps<ManyShape>) {
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
