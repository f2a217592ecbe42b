// Calls as a program that people read and write.
import type { Json } from "../../api/shapes";

const PLAIN = /^[A-Za-z][A-Za-z0-9_]*$/;

export function programOf(calls: Json[]): string {
  return (calls as unknown as { verb: string; name: string; args: { [key: string]: Json }; after?: string[]; on_failure?: string; gate?: string }[]).map((call) => {
    const args = Object.entries(call.args).map(([name, value]) => `    ${name}: ${written(value)}`).join(",\n");
    const options = [call.after?.length ? ` AFTER ${call.after.join(", ")}` : "", call.on_failure ? ` ON FAILURE ${call.on_failure}` : "", call.gate ? ` GATE ${text(call.gate)}` : ""].join("");
    return `LET ${call.name} = EXEC ${call.verb}(${args ? `\n${args}\n` : ""})${options}`;
  }).join("\n\n") + (calls.length ? "\n" : "");
}

function written(value: Json): string {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value === null || typeof value !== "object") return value === null ? "null" : number(value);
  const reference = value["@"];
  if (typeof reference === "string" && Object.keys(value).length === 1) return reference.replace(/\.(\d+)(?=\.|$)/g, "[$1]");
  return `{${Object.entries(value).map(([key, each]) => `${PLAIN.test(key) ? key : text(key)}: ${written(each)}`).join(", ")}}`;
}

function text(value: string): string {
  return JSON.stringify(value).replace(/\\([bf])/g, (_, letter: string) => (letter === "b" ? "\\u0008" : "\\u000c"));
}

function number(value: boolean | number): string {
  const shown = String(value);
  return /e/.test(shown) && typeof value === "number" ? value.toFixed(Math.abs(value) < 1 ? 20 : 0).replace(/0+$/, "").replace(/\.$/, "") : shown;
}
