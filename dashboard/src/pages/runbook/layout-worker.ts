// Lays out a plan away from the page, which stays smooth meanwhile.
import type { Link } from "./graph-geometry";
import { place } from "./graph-layout";

self.addEventListener("message", (event: MessageEvent<{ number: number; names: string[]; links: Link[] }>) => {
  const { number, names, links } = event.data;
  self.postMessage({ number, placed: place(names, links) });
});
