// A BPMN diagram on a page: the model with its marks, a bar to zoom, and the same told in words.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawn, type Marks, saidOf } from "./marks";
import type { ModelViewer } from "./viewer";
import "./diagram.css";

interface DiagramProps {
  xml: string;
  marks: Marks;
  label: string;
  selected?: string;
  onSelect?: (element: string) => void;
  /** Told once the model is shown: how its elements are named. */
  onNames?: (name: (element: string) => string) => void;
}

/** Where to look first: what is stuck, else where a token stands. */
function firstOf(marks: Marks): string {
  return marks.incidents[0]?.element ?? marks.tokens[0]?.element ?? marks.findings[0]?.element ?? "";
}

const PLAIN = (element: string) => element;

export function Diagram({ xml, marks, label, selected = "", onSelect, onNames }: DiagramProps) {
  const host = useRef<HTMLDivElement>(null);
  const [viewer, setViewer] = useState<ModelViewer | null>(null);
  const [shown, setShown] = useState("");
  const [fault, setFault] = useState("");
  const choose = useRef(onSelect);
  choose.current = onSelect;
  const latest = useRef(marks);
  latest.current = marks;

  useEffect(() => {
    let made: ModelViewer | null = null;
    let isGone = false;
    void import("./viewer").then(
      ({ ModelViewer: Viewer }) => {
        if (isGone || !host.current) return;
        made = new Viewer(host.current, (element) => choose.current?.(element));
        setViewer(made);
      },
      () => setFault("The viewer could not be loaded."),
    );
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, []);

  useEffect(() => {
    if (!viewer) return undefined;
    let isGone = false;
    setFault("");
    viewer.show(xml, () => firstOf(latest.current)).then(
      () => {
        if (isGone) return;
        setShown(xml);
        onNames?.((element) => viewer.nameOf(element));
      },
      (error: unknown) => !isGone && setFault(error instanceof Error ? error.message : "This model cannot be drawn."),
    );
    return () => {
      isGone = true;
    };
  }, [viewer, xml]);

  const isReady = viewer !== null && shown === xml;
  const picture = useMemo(
    () => (isReady ? drawn(marks, (element) => viewer.isElement(element), (element) => viewer.nameOf(element)) : null), [isReady, marks],
  );
  useEffect(() => {
    if (viewer && picture) viewer.mark(picture.badges, picture.classes);
  }, [viewer, picture]);
  useEffect(() => {
    if (viewer && isReady) viewer.select(selected);
    if (viewer && isReady && selected) viewer.reveal(selected);
  }, [viewer, isReady, selected]);

  return (
    <figure class="diagram">
      <div class="diagram-tools" role="group" aria-label="Zoom">
        <button type="button" class="button square tight" aria-label="Zoom in" onClick={() => viewer?.zoomBy(1.25)}>+</button>
        <button type="button" class="button square tight" aria-label="Zoom out" onClick={() => viewer?.zoomBy(0.8)}>−</button>
        <button type="button" class="button tight" onClick={() => viewer?.fit()}>Fit</button>
      </div>
      <div class="diagram-canvas" ref={host} role="group" aria-label={label} data-ready={isReady} hidden={fault !== ""} />
      {fault && <p class="problem" role="alert"><strong>The diagram cannot be shown.</strong> {fault}</p>}
      {!isReady && !fault && <p class="diagram-loading soft">Drawing…</p>}
      <figcaption class="unseen">{saidOf(marks, isReady ? (element) => viewer.nameOf(element) : PLAIN)}</figcaption>
      {picture !== null && picture.unplaced.length > 0 && (
        <p class="soft small">Not in the picture: {picture.unplaced.map((each) => each.label).join("; ")}</p>
      )}
    </figure>
  );
}
