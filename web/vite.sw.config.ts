// The service worker: one classic script, before the list of files is put in (web/scripts/service-worker.mjs).
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  publicDir: false,
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  build: {
    target: 'esnext',
    outDir: here('../.likewise/cache/sw'),
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: {
      input: here('src/sw/sw.ts'),
      output: { format: 'iife', entryFileNames: 'sw.js' },
    },
  },
});
