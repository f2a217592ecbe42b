// How the dashboard is built: into the Python package, nothing inlined, so that a strict content policy holds.
import { defineConfig } from "vitest/config";

const server = process.env["PERDURE_SERVER"] ?? "http://127.0.0.1:8321";

export default defineConfig({
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
