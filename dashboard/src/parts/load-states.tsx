// What a page shows instead of data: bones while loading, a blank when there is none, the problem when it failed.
import type { ComponentChildren } from "preact";
import type { Problem } from "../api/client";
import type { Resource } from "../live/resource";

export function Loading({ label = "Loading", lines = 6 }: { label?: string; lines?: number }) {
  return (
    <div class="bones" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => <span key={index} />)}
    </div>
  );
}

export function Blank({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="blank">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function ProblemBox({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <strong>{problem.title}</strong>
      <span>{problem.message}</span>
      {problem.hint && <span class="soft">{problem.hint}</span>}
      {problem.errors.length > 0 && (
        <ul>
          {problem.errors.map((each) => <li key={each.path + each.message}><code>{each.path}</code> {each.message}{each.hint ? ` ${each.hint}` : ""}</li>)}
        </ul>
      )}
      <span class="row">
        <code class="small">{problem.code}</code>
        {retry && <button type="button" class="button tight push" onClick={retry}>Try again</button>}
      </span>
    </div>
  );
}

/** Data when it is there (with the problem above it, when reading it again failed), else bones or the problem. */
export function Loaded<T>({ from, children, lines }: { from: Resource<T>; children: (data: T) => ComponentChildren; lines?: number }) {
  if (from.data === undefined && from.error) return <ProblemBox problem={from.error} retry={from.reload} />;
  if (from.data === undefined) return <Loading {...(lines ? { lines } : {})} />;
  return (
    <>
      {from.error && <ProblemBox problem={from.error} retry={from.reload} />}
      {children(from.data)}
    </>
  );
}
