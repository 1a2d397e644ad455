// Builds the page and the verify page into web/dist; the service worker comes after (web/scripts/service-worker.mjs).
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Threads need an isolated page; the real server sends the same and more. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const ort = JSON.parse(readFileSync(here('../node_modules/onnxruntime-web/package.json'), 'utf8')) as {
  version: string;
};

export default defineConfig({
  root: here('.'),
  // Relative, so that the bundle works in any folder of any host.
  base: './',
  // The runtime's entry without the wasm glue inside: worker/session.ts names the glue's file itself.
  resolve: { conditions: ['onnxruntime-web-use-extern-wasm', 'module', 'browser', 'development|production'] },
  define: { __ORT_VERSION__: JSON.stringify(ort.version) },
  worker: { format: 'es' },
  build: {
    target: 'esnext',
    outDir: here('dist'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: { index: here('index.html'), verify: here('verify.html'), raw: here('raw.html') },
    },
  },
  server: { headers },
  preview: { headers },
});
