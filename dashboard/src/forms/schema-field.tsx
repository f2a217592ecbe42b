// The part of a form that a shape asks for; groups, lists and variants hold other parts.
import { controlProps, Group, type PartProps, type Pen } from "./field-frame";
import { ChoicePart, ManyPart, YesNoPart } from "./choice-fields";
import { changed, type Draft, draftOf } from "./form-draft";
import { NumberPart, RawPart, ReferencePart, TextPart } from "./input-fields";
import type { Path } from "./value-paths";
import { isRecord, Reference } from "./result-references";
import type { Field, ListShape, Shape, VariantsShape } from "./schema-shape";

export function Part(props: PartProps<Shape>) {
  const { shape, draft } = props;
  if (draft instanceof Reference) return <ReferencePart {...props} draft={draft} />;
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

export function Members({ fields, draft, path, pen }: { fields: Field[]; draft: Draft; path: Path; pen: Pen }) {
  const typed: { [name: string]: Draft } = isRecord(draft) ? draft : {};
  return (
    <>
      {fields.map((field) => (
        <Part key={field.name} shape={field.shape} draft={typed[field.name] ?? null} path={[...path, field.name]} isRequired={field.isRequired} pen={pen} />
      ))}
    </>
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
  const inside: Pen = { ...pen, form: `${pen.form}-v`, references: shape.kind === "group" ? pen.references : undefined, set: (place, value) => put(changed(draft, place.slice(path.length), value)) };
  return shape.kind === "group" ? <Members fields={shape.fields} draft={draft} path={path} pen={inside} /> : <Part shape={shape} draft={draft} path={path} isRequired pen={inside} />;
}
