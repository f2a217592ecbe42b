// A stand-in for the server while pages are being made (npm run dev). Never part of what is built.
import type { Plugin } from "vite";

export function mockServer(): Plugin {
  return {
    name: "perdure-mock",
    configureServer(server) {
      server.middlewares.use("/api", (request, response) => {
        const url = new URL(request.url ?? "/", "http://mock");
        void import("./answers").then(({ answer }) => answer(request, url, response));
      });
    },
  };
}
