// What the stand-in answers.
import type { IncomingMessage, ServerResponse } from "node:http";

const session = {
  principal: "ana", tenant: "default", kind: "person", roles: ["admin"], groups: ["compliance"], csrf: "x", authentication: "none",
  may: ["runbook.list", "runbook.read", "runbook.plan", "runbook.draft", "runbook.start", "runbook.extend", "runbook.seal", "runbook.cancel", "runbook.compensate", "runbook.retry", "runbook.skip", "runbook.answer", "task.list", "instance.list", "incident.list", "verb.list", "key.list", "audit.export"],
};

type Handler = (url: URL, body: unknown) => unknown;
export const handlers: [string, RegExp, Handler][] = [["GET", /^\/session$/, () => session]];

export async function answer(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
  if (url.pathname === "/events") return stream(response);
  let text = "";
  for await (const piece of request) text += String(piece);
  const found = handlers.find(([method, pattern]) => method === request.method && pattern.test(url.pathname));
  response.setHeader("Content-Type", found ? "application/json" : "application/problem+json");
  if (!found) {
    response.statusCode = 404;
    response.end(JSON.stringify({ title: "Not found", status: 404, detail: `Expected to find '${url.pathname}', but there is none.`, code: "not_found", hint: "" }));
    return;
  }
  response.end(JSON.stringify(found[2](url, text ? JSON.parse(text) : undefined)));
}

function stream(response: ServerResponse): void {
  response.setHeader("Content-Type", "text/event-stream");
  response.write(": hello\n\n");
  const timer = setInterval(() => response.write(": still here\n\n"), 15_000);
  response.on("close", () => clearInterval(timer));
}
