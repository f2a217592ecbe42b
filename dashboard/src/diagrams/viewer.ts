// The BPMN viewer: shows a model, draws marks onto it, tells which element was chosen. Loaded only where a diagram is shown.
import NavigatedViewer from "bpmn-js/lib/NavigatedViewer";
import "bpmn-js/dist/assets/diagram-js.css";
import "bpmn-js/dist/assets/bpmn-js.css";
import type { Badge } from "./marks";

interface Box { x: number; y: number; width: number; height: number }
interface Shape { id: string; type: string; x?: number; y?: number; width?: number; height?: number; labelTarget?: Shape; businessObject?: { name?: string } }
interface Canvas {
  zoom(to?: number | "fit-viewport", center?: "auto"): number;
  scroll(delta: { dx: number; dy: number }): void;
  addMarker(element: string, style: string): void;
  removeMarker(element: string, style: string): void;
  scrollToElement(element: string, padding?: number): void;
  resized(): void;
  viewbox(box?: Box): Box & { inner: Box };
}
interface Overlays { add(element: string, overlay: { position: object; html: HTMLElement; show?: object }): string; clear(): void }
interface Registry { get(id: string): Shape | undefined; filter(is: (shape: Shape) => boolean): Shape[] }
interface Bus { on(event: string, act: (event: { element: Shape }) => void): void }

const MAX_ZOOM = 4;
const MIN_ZOOM = 0.1;
const READABLE_ZOOM = 0.45;
const LEAST_HIGH = 260;
const MOST_HIGH = 560;
const ROOM = 90;
const MARGIN = 40;
const SELECTED = "mark-selected";

export class ModelViewer {
  private readonly viewer: NavigatedViewer;
  private classes = new Map<string, string[]>();
  private selected = "";
  private readonly stopTouch: () => void;

  constructor(private readonly host: HTMLElement, private readonly choose: (element: string) => void) {
    this.viewer = new NavigatedViewer({
      container: host,
      bpmnRenderer: { defaultFillColor: "var(--surface)", defaultStrokeColor: "var(--diagram-line)", defaultLabelColor: "var(--text)" },
    });
    // The wheel scrolls the page; with Ctrl it zooms, as in every other picture on the web.
    host.addEventListener("wheel", (event) => !event.ctrlKey && !event.metaKey && event.stopPropagation(), { capture: true });
    this.stopTouch = pannedByTouch(host, (dx, dy) => this.canvas.scroll({ dx, dy }));
    (this.viewer.get("eventBus") as Bus).on("element.click", ({ element }) => {
      const target = element.labelTarget ?? element;
      this.choose(this.isElement(target.id) && !isRoot(target) ? target.id : "");
    });
  }

  private get canvas(): Canvas {
    return this.viewer.get("canvas") as Canvas;
  }

  private get registry(): Registry {
    return this.viewer.get("elementRegistry") as Registry;
  }

  /** Shows a model, whole; where that would be too small to read, its beginning or the element that matters. */
  async show(xml: string, first: () => string): Promise<void> {
    await this.viewer.importXML(xml);
    this.classes = new Map();
    this.selected = "";
    this.sizeToModel();
    this.fit();
    if (this.canvas.zoom() >= READABLE_ZOOM) return;
    this.canvas.zoom(READABLE_ZOOM, "auto");
    this.host.dataset["zoom"] = "own";
    const wanted = first();
    const start = this.registry.filter((shape) => shape.type === "bpmn:StartEvent")[0]?.id ?? "";
    this.centre(this.isElement(wanted) ? wanted : start);
  }

  /** A long, low model leaves no empty room above and below it. */
  private sizeToModel(): void {
    const { inner } = this.canvas.viewbox();
    const wanted = (inner.height / Math.max(1, inner.width)) * this.host.clientWidth + ROOM;
    this.host.style.height = `${Math.round(Math.min(MOST_HIGH, Math.max(LEAST_HIGH, wanted)))}px`;
  }

  private centre(element: string): void {
    const shape = this.registry.get(element);
    const box = this.canvas.viewbox();
    if (shape?.x === undefined || shape.y === undefined) return;
    const x = within(shape.x + (shape.width ?? 0) / 2 - box.width / 2, box.inner.x, box.inner.width, box.width);
    const y = within(shape.y + (shape.height ?? 0) / 2 - box.height / 2, box.inner.y, box.inner.height, box.height);
    this.canvas.viewbox({ x, y, width: box.width, height: box.height });
  }

  isElement(id: string): boolean {
    return this.registry.get(id) !== undefined;
  }

  /** The name of an element as the model has it; its id when it has none. */
  nameOf(id: string): string {
    return this.registry.get(id)?.businessObject?.name || id;
  }

  mark(badges: readonly Badge[], classes: ReadonlyMap<string, readonly string[]>): void {
    for (const [element, styles] of this.classes) for (const style of styles) if (this.isElement(element)) this.canvas.removeMarker(element, style);
    this.classes = new Map([...classes].map(([element, styles]) => [element, [...styles]]));
    for (const [element, styles] of this.classes) for (const style of styles) this.canvas.addMarker(element, style);
    const overlays = this.viewer.get("overlays") as Overlays;
    overlays.clear();
    for (const badge of badges) overlays.add(badge.element, { position: PLACE[badge.kind], html: badgeElement(badge), show: { minZoom: 0, maxZoom: 99 } });
  }

  select(element: string): void {
    if (this.selected && this.isElement(this.selected)) this.canvas.removeMarker(this.selected, SELECTED);
    this.selected = this.isElement(element) ? element : "";
    if (this.selected) this.canvas.addMarker(this.selected, SELECTED);
  }

  reveal(element: string): void {
    if (this.isElement(element)) this.canvas.scrollToElement(element, 60);
  }

  fit(): void {
    this.canvas.resized();
    this.canvas.zoom("fit-viewport", "auto");
    if (this.canvas.zoom() > 1) this.canvas.zoom(1, "auto");
    this.host.dataset["zoom"] = "fit";
  }

  zoomBy(factor: number): void {
    this.canvas.zoom(Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, this.canvas.zoom() * factor)), "auto");
    this.host.dataset["zoom"] = "own";
  }

  destroy(): void {
    this.stopTouch();
    this.viewer.destroy();
  }
}

/** Where a view begins so that it shows no more emptiness beside the model than it must. */
function within(wanted: number, begin: number, size: number, view: number): number {
  if (size + 2 * MARGIN <= view) return begin + size / 2 - view / 2;
  return Math.min(begin + size + MARGIN - view, Math.max(begin - MARGIN, wanted));
}

const PLACE: Record<Badge["kind"], object> = {
  token: { bottom: 8, left: -8 },
  completed: { bottom: 8, right: 12 },
  incident: { top: -12, right: 12 },
  "finding-error": { top: -12, left: -4 },
  "finding-warning": { top: -12, left: -4 },
};

function badgeElement(badge: Badge): HTMLElement {
  const element = document.createElement("span");
  element.className = `diagram-badge ${badge.kind}`;
  element.textContent = badge.text;
  element.title = badge.label;
  return element;
}

function isRoot(shape: Shape): boolean {
  return shape.type === "bpmn:Process" || shape.type === "bpmn:Collaboration";
}

/** One finger moves the picture; the viewer itself only knows the mouse. Returns what stops it. */
function pannedByTouch(host: HTMLElement, scroll: (dx: number, dy: number) => void): () => void {
  let last: { x: number; y: number } | null = null;
  const begin = (event: TouchEvent) => {
    const touch = event.touches[0];
    last = event.touches.length === 1 && touch ? { x: touch.clientX, y: touch.clientY } : null;
  };
  const move = (event: TouchEvent) => {
    const touch = event.touches[0];
    if (!last || !touch || event.touches.length !== 1) return;
    scroll(touch.clientX - last.x, host.dataset["zoom"] === "own" ? touch.clientY - last.y : 0);
    last = { x: touch.clientX, y: touch.clientY };
  };
  host.addEventListener("touchstart", begin, { passive: true });
  host.addEventListener("touchmove", move, { passive: true });
  return () => {
    host.removeEventListener("touchstart", begin);
    host.removeEventListener("touchmove", move);
  };
}
