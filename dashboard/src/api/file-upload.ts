// A file sent as the body of a request, with its progress, which only XMLHttpRequest tells.
import { address, Problem, problemOf, session } from "./client";

export function sendFile<T>(path: string, file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address(path, { name: file.name }));
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.setRequestHeader("Idempotency-Key", crypto.randomUUID());
    if (session.value?.csrf) request.setRequestHeader("X-CSRF-Token", session.value.csrf);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.total === 0 ? 1 : event.loaded / event.total);
    request.onload = () => (request.status < 300 ? resolve(JSON.parse(request.responseText) as T) : reject(problemOf(request.status, request.statusText, request.responseText)));
    request.onerror = () => reject(new Problem(0, "server.unreachable", "The server does not answer", "The file could not be sent.", "Try it again."));
    request.onabort = () => reject(new Problem(0, "upload.stopped", "Stopped", "The file was not handed in."));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
