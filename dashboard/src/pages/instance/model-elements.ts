// The elements of a model, read from its XML: what they are called and whether a token can stand before them.

export interface Element {
  id: string;
  name: string;
  kind: string;
  isNode: boolean;
}

const MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL";
/** Nobody can put a token before these: they begin by themselves. */
const NOWHERE = new Set(["startEvent", "boundaryEvent"]);
const NODES = /^(task|.*Task|.*Event|.*Gateway|subProcess|adHocSubProcess|transaction|callActivity)$/;

export function elementsOf(xml: string): Element[] {
  if (xml === "") return [];
  const parsed = new DOMParser().parseFromString(xml, "application/xml");
  const found: Element[] = [];
  for (const process of parsed.getElementsByTagNameNS(MODEL, "process")) {
    for (const element of process.getElementsByTagNameNS(MODEL, "*")) {
      const id = element.getAttribute("id");
      if (!id) continue;
      const kind = element.localName;
      found.push({ id, name: element.getAttribute("name")?.replaceAll(/\s+/g, " ").trim() || id, kind, isNode: NODES.test(kind) && !NOWHERE.has(kind) });
    }
  }
  return found;
}
