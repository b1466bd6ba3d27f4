// How the page is built: into the gateway's package, without a framework plugin.
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../services/sk_gateway/static",
    emptyOutDir: true,
    target: "es2022",
    // The polyfill would be an inline script, which the page's CSP refuses.
    modulePreload: { polyfill: false },
    // A data: URL in a style sheet is fine, one for a script or a font is not.
    assetsInlineLimit: 0,
  },
  test: {
    environment: "jsdom",
    include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"],
    // Reached by what hangs, not by what a busy machine is slow at (5 s by default).
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
