// JSON of the server: integers beyond 2^53, such as the keys of another engine's nodes, keep all their digits as text.
const PARTS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The value of a JSON text; an integer that a number cannot hold is the text of its digits. */
export function readJson(text: string): unknown {
  return JSON.parse(/\d{16}/.test(text) ? text.replace(PARTS, kept) : text);
}

function kept(part: string): string {
  const isInteger = /^-?\d+$/.test(part);
  return isInteger && !Number.isSafeInteger(Number(part)) ? `"${part}"` : part;
}
