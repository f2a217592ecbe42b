// Lays out a plan away from the page, which stays smooth meanwhile.
import type { Link } from "./layout";
import { place } from "./placing";

self.addEventListener("message", (event: MessageEvent<{ number: number; names: string[]; links: Link[] }>) => {
  const { number, names, links } = event.data;
  self.postMessage({ number, placed: place(names, links) });
});
