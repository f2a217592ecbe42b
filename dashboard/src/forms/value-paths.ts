// Places in an answer, written as the server writes them: `$.documents[0].name`.

export type Part = string | number;
export type Path = readonly Part[];

const MAX_NAME = 60;
const PLAIN = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => text + partText(part), "$");
}

function partText(part: Part): string {
  if (typeof part === "number") return `[${part}]`;
  const name = part.length <= MAX_NAME ? part : `${part.slice(0, MAX_NAME - 3)}…`;
  return PLAIN.test(name) ? `.${name}` : `['${name}']`;
}

/** The same place, one level up; the whole answer is its own parent. */
export function above(path: string): string {
  const cut = path.endsWith("']") ? path.lastIndexOf("['") : Math.max(path.lastIndexOf("."), path.lastIndexOf("["));
  return cut > 0 ? path.slice(0, cut) : "$";
}

/** An id for the DOM that no other place of the same form has. */
export function fieldId(form: string, path: Path): string {
  return [form, ...path.map((part) => String(part).replaceAll(/[^\p{L}\p{N}]/gu, (odd) => `_${odd.codePointAt(0)}`))].join("-");
}
