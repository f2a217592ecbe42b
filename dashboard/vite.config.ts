// How the dashboard is built: into the Python package, nothing inlined, so that a strict content policy holds.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { defineConfig } from "vitest/config";

const require = createRequire(import.meta.url);

/** The page that describes the API is somebody else's: its files are passed on as they are. */
const apiDocs = {
  name: "api-docs",
  generateBundle(this: { emitFile(file: { type: "asset"; fileName: string; source: Buffer }): string }): void {
    for (const file of ["swagger-ui-bundle.js", "swagger-ui.css", "LICENSE"]) {
      const source = readFileSync(require.resolve(`swagger-ui-dist/${file}`));
      this.emitFile({ type: "asset", fileName: `docs/${file}`, source });
    }
  },
};

const server = process.env["PERDURE_SERVER"] ?? "http://127.0.0.1:8321";

export default defineConfig({
  plugins: [apiDocs],
  server: { proxy: { "/api": { target: server } } },
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  worker: { format: "es" },
  build: {
    outDir: process.env["PERDURE_STATIC"] ?? "../src/perdure/surfaces/http/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: "es2022",
    sourcemap: false,
    chunkSizeWarningLimit: 900,
  },
  test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
