// The content of a version, read only when somebody asks for it: reading is an event that stays in the journal.
import { useEffect, useState } from "preact/hooks";
import { get, mayDo, post, type Problem } from "../../api/client";
import type { ContentView, DocumentView, LinkView, VersionView } from "../../api/paper-shapes";
import { asProblem } from "../../live/resource";
import { JsonTree } from "../../parts/json-tree";
import { ProblemBox } from "../../parts/load-states";
import { query, setQuery } from "../../router";

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]);

export function Content({ document }: { document: DocumentView }) {
  const asked = Number(query.value.get("version"));
  const newest = document.versions[document.versions.length - 1];
  const version = document.versions.find((each) => each.number === asked) ?? newest;
  if (!version) return null;
  return (
    <div class="stack">
      <label class="row">Version
        <select class="input fit" value={String(version.number)} onChange={(event) => setQuery({ version: event.currentTarget.value })}>
          {[...document.versions].reverse().map((each) => <option key={each.number} value={String(each.number)}>{each.number} ({each.status})</option>)}
        </select>
      </label>
      {mayDo("document.content") ? <Read key={version.number} id={document.id} version={version} /> : <p class="notice">You may see that this document exists, but not what it holds.</p>}
    </div>
  );
}

interface Given { content: ContentView; link: LinkView | null }

function Read({ id, version }: { id: string; version: VersionView }) {
  const [given, setGiven] = useState<Given>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const read = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const content = await get<ContentView>(`/documents/${id}/versions/${version.number}`);
      setGiven({ content, link: version.blob ? await linkTo(id, version.number) : null });
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  if (problem) return <ProblemBox problem={problem} retry={() => void read()} />;
  if (!given) return <p class="row"><button type="button" class="button primary" disabled={isBusy} onClick={() => void read()}>{isBusy ? "Reading…" : `Show version ${version.number}`}</button><span class="soft small">The journal keeps who read it, and when.</span></p>;
  return (
    <div class="stack">
      {given.content.note && <p class="notice">Note with the decision: “{given.content.note}”</p>}
      {version.blob && <Preview id={id} version={version} name={given.content.name} first={given.link} />}
      <div class="grid">
        {version.has_data && <div class="stack tight"><h3>Structured data</h3><JsonTree value={given.content.data} label="Structured data" /></div>}
        {given.content.extracted !== null && <div class="stack tight"><h3>Fields read out</h3><JsonTree value={given.content.extracted} label="Fields read out" /></div>}
      </div>
    </div>
  );
}

/** A link that works for a few minutes; null where this server signs none. */
async function linkTo(id: string, version: number): Promise<LinkView | null> {
  return post<LinkView>(`/documents/${id}/versions/${version}/link`);
}

function Preview({ id, version, name, first }: { id: string; version: VersionView; name: string; first: LinkView | null }) {
  const [problem, setProblem] = useState<Problem>();
  const [link, setLink] = useState(first?.link ?? "");
  const media = version.blob?.media_type ?? "";
  useEffect(() => setLink(first?.link ?? ""), [first]);
  const download = async () => {
    setProblem(undefined);
    try {
      const made = await linkTo(id, version.number);
      if (made) location.assign(made.link);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  const title = `${name || "File"}, version ${version.number}`;
  return (
    <div class="stack tight">
      <p class="row"><strong>{name || "File"}</strong><button type="button" class="button tight push" onClick={() => void download()}>Download</button></p>
      {problem && <ProblemBox problem={problem} />}
      {!SHOWN.has(media) && <p class="notice">A file of type <code>{media}</code> is not shown here; download it to look at it.</p>}
      {SHOWN.has(media) && link && (media === "application/pdf"
        ? <iframe class="preview" title={title} src={`${link}?show=true`} referrerpolicy="no-referrer" />
        : <iframe class="preview" title={title} src={`${link}?show=true`} sandbox="" referrerpolicy="no-referrer" />)}
    </div>
  );
}
