// The pure parts of the web code, in Node; everything that needs a browser is tested in a real one (tests/browser).
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: { include: ['tests/web/**/*.test.ts'], environment: 'node' },
});
