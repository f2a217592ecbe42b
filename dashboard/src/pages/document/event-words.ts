// What happened to a document, in words. Pure.
import type { Json } from "../../api/shapes";

export interface DocumentEvent { entry: string; data: Record<string, Json> }

const READ: Record<string, string> = { data: "read the data", blob: "downloaded the file", link: "asked for a link to the file", "link used": "opened the file by a link", reference: "read it for a verb", scan: "read it for its scan" };

export function eventText({ entry, data }: DocumentEvent): string {
  const version = typeof data["number"] === "number" ? ` version ${data["number"]}` : "";
  const of = version ? ` of${version}` : "";
  switch (entry) {
    case "DocumentCreated": return "created the document";
    case "VersionReceived": return `handed in${version}`;
    case "VersionVerified": return `verified${version}`;
    case "VersionRejected": return `rejected${version}: ${String(data["reason"] ?? "")}`;
    case "VersionExpired": return `${version.trim()} expired`;
    case "VersionSuperseded": return `${version.trim()} was replaced by a newer one`;
    case "DocumentSuperseded": return "let another document take its place";
    case "ContentRead": return `${READ[String(data["what"])] ?? `read ${String(data["what"])}`}${of}`;
    case "FieldsExtracted": return `read fields out${of}`;
    case "ExtractionFailed": return `could not read fields out${of}`;
    case "BlobScanned": return data["is_clean"] ? `the scan let${version} pass` : `the scan refused${version}`;
    case "DocumentErased": return `erased the data: ${String(data["reason"] ?? "")}`;
    default: return entry;
  }
}

export function isRead(event: DocumentEvent): boolean {
  return event.entry === "ContentRead";
}
