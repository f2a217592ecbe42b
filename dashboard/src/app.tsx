// The frame of every page: bar, navigation, the page itself, messages.
import { signal, useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Problem, session } from "./api/client";
import { restore } from "./api/session";
import { asProblem } from "./live/resource";
import { Bar, isMenuOpen, Side } from "./navigation";
import { Help } from "./shortcut-list";
import { Blank, Loading, ProblemBox } from "./parts/load-states";
import { Toasts } from "./parts/toasts";
import { routes } from "./routes";
import { Link, match, navigate, type PageProps, path } from "./router";

const start = signal<"asking" | "known" | Problem>("asking");

async function begin(): Promise<void> {
  try {
    await restore();
    start.value = "known";
  } catch (error) {
    start.value = asProblem(error);
  }
}

export function App() {
  useEffect(() => void begin(), []);
  useSignalEffect(() => {
    if (start.value !== "known" || session.value || path.value === "/sign-in") return;
    navigate(`/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`, { replace: true });
  });
  if (start.value === "asking") return <Loading label="Starting" />;
  if (start.value !== "known") return <main><ProblemBox problem={start.value} retry={() => void begin()} /></main>;
  if (!session.value) return <><main id="main"><Screen /></main><Toasts /></>;
  return (
    <div class="frame">
      <a class="skip-link" href="#main">Skip to the content</a>
      <Bar />
      <Side />
      <main id="main" tabIndex={-1}><Screen /></main>
      <Help />
      <Toasts />
    </div>
  );
}

function Screen() {
  const address = path.value;
  for (const route of routes) {
    const params = match(route.path, address);
    if (params) return <Lazy key={route.path} path={route.path} title={route.title} load={route.load} params={params} />;
  }
  return <Blank title="There is no such page"><p>The address may be mistyped, or what was there is gone.</p><Link class="button" to="/">Go home</Link></Blank>;
}

const loaded = new Map<string, ComponentType<PageProps>>();

function Lazy({ path: pattern, title, load, params }: (typeof routes)[number] & PageProps) {
  const [page, setPage] = useState<{ shown?: ComponentType<PageProps>; error?: Problem }>({ shown: loaded.get(pattern) });
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · Perdure`;
    isMenuOpen.value = false;
    if (!page.shown) load().then((module) => { loaded.set(pattern, module.default); setPage({ shown: module.default }); }, (error: unknown) => setPage({ error: asProblem(error) }));
  }, []);
  useEffect(() => {
    // After going somewhere the heading has the focus, so that a screen reader says where we are.
    if (!page.shown || !isFirst.current) return;
    isFirst.current = false;
    if (arrivals++ > 0) document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [page.shown]);
  if (page.error) return <ProblemBox problem={page.error} retry={() => location.reload()} />;
  const Shown = page.shown;
  return Shown ? <Shown params={params} /> : <Loading />;
}
let arrivals = 0;
