// Values that a form may refer to instead of holding them: parts of what earlier steps result in.

/** Stands for a part of a result, by its path: `case.id`. The server reads it as `{"@": "case.id"}`. */
export class Reference {
  constructor(readonly path: string) {}

  toJSON(): { "@": string } {
    return { "@": this.path };
  }
}

/** JSON in which a reference may stand anywhere. */
export type Given = undefined | null | boolean | number | string | Reference | Given[] | { [name: string]: Given };

export function isRecord<T>(value: T): value is Extract<T, { [name: string]: unknown }> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Reference);
}
