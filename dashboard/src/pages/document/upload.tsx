// Handing in a version: a file dropped here or chosen, sent with its progress.
import { useRef, useState } from "preact/hooks";
import { mayDo, type Problem } from "../../api/client";
import { sendFile } from "../../api/file-upload";
import type { DocumentTypeView, DocumentView } from "../../api/paper-shapes";
import { asProblem } from "../../live/resource";
import { ProblemBox } from "../../parts/load-states";
import { tell } from "../../parts/toasts";
import { sizeText } from "./file-size";

interface UploadProps { document: DocumentView; type: DocumentTypeView | undefined; onChange: (document: DocumentView) => void }

export function Upload(props: UploadProps) {
  return mayDo("document.receive") ? <DropZone {...props} /> : null;
}

function DropZone({ document, type, onChange }: UploadProps) {
  const [share, setShare] = useState<number | null>(null);
  const [name, setName] = useState("");
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const input = useRef<HTMLInputElement>(null);
  const running = useRef<AbortController | null>(null);
  const send = async (file: File | undefined) => {
    if (!file || share !== null) return;
    setProblem(undefined);
    setName(file.name);
    setShare(0);
    running.current = new AbortController();
    try {
      onChange(await sendFile<DocumentView>(`/documents/${document.id}/content`, file, setShare, running.current.signal));
      tell(`${file.name} was handed in`);
    } catch (error) {
      if (!running.current.signal.aborted) setProblem(asProblem(error));
    }
    setShare(null);
    if (input.current) input.current.value = "";
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void send(event.dataTransfer?.files[0]);
  };
  const drag = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <section class={`card dropzone ${isOver ? "over" : ""}`} aria-label="Hand in a version" onDragOver={drag} onDragEnter={drag} onDragLeave={() => setOver(false)} onDrop={drop}>
      <div class="inside stack">
        <div class="row">
          <label class={`button ${document.versions.length === 0 ? "primary" : ""} ${share !== null ? "busy" : ""}`}>
            Choose a file
            <input ref={input} class="unseen" type="file" accept={type?.media_types.join(",")} disabled={share !== null} onChange={(event) => void send(event.currentTarget.files?.[0])} />
          </label>
          <span class="soft">or drop it here. {type && limitsText(type)}</span>
        </div>
        {share !== null && (
          <div class="row" role="status">
            <label class="row">Sending {name}<progress max={1} value={share} aria-label={`Sending ${name}`} /></label>
            <span class="number soft">{Math.round(share * 100)} %</span>
            <button type="button" class="button tight" onClick={() => running.current?.abort()}>Stop</button>
          </div>
        )}
        {problem && <ProblemBox problem={problem} />}
      </div>
    </section>
  );
}

function limitsText(type: DocumentTypeView): string {
  const kinds = type.media_types.map((each) => each.replace(/^(image|application)\//, "")).join(", ");
  return kinds ? `It takes ${kinds}, up to ${sizeText(type.max_bytes)}.` : `It may have up to ${sizeText(type.max_bytes)}.`;
}
