// Bundles the service worker and puts into it which files make up the shell. Every file that the page can ask
// for is either in the shell or on the list of those kept when first used; a file on neither fails the build.
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { injectManifest } from 'workbox-build';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const DIST = here('../dist');
const BUNDLE = here('../../.likewise/cache/sw/sw.js');

const ALL = '**/*.{js,mjs,css,html,wasm,json,svg,png,ico,webmanifest}';
/** Not every visitor needs them; with a hash in their names, except for the page, which is never kept. */
const ON_USE = ['assets/verify-*.js', 'assets/raw-*.js', 'assets/*.asyncify-*', 'assets/ort.webgpu*.js'];
const NEVER = ['verify.html', 'raw.html', 'sw.js'];
const HASHED = /^assets\/.+-[\w-]{8}\.\w+$/;

const onUse = await globbed(ON_USE);
const shell = await globbed([ALL], [...ON_USE, ...NEVER]);
const left = (await globbed(['**/*'], ['**/*.{br,gz}', ...NEVER])).filter(
  file => !onUse.includes(file) && !shell.includes(file),
);
const needed = ['index.html', 'manifest.webmanifest', '.js', '.mjs', '.css', '.wasm', '.png', '.svg'];
const absent = needed.filter(end => !shell.some(file => file.endsWith(end)));
if (left.length > 0 || absent.length > 0) {
  throw new Error(
    `Service worker: left out: ${left.join(', ') || 'nothing'}; not found: ${absent.join(', ')}`,
  );
}

await build({
  configFile: here('../vite.sw.config.ts'),
  logLevel: 'warn',
  define: { __RUNTIME_ASSETS__: JSON.stringify(onUse), 'process.env.NODE_ENV': '"production"' },
});
const { count, size, warnings } = await injectManifest({
  swSrc: BUNDLE,
  swDest: `${DIST}/sw.js`,
  globDirectory: DIST,
  globPatterns: shell,
  maximumFileSizeToCacheInBytes: 64 * 2 ** 20,
  dontCacheBustURLsMatching: HASHED,
  manifestTransforms: [withIntegrity],
});
if (warnings.length > 0 || count !== shell.length) {
  throw new Error(`Service worker: ${count} of ${shell.length} files; ${warnings.join('; ')}`);
}
await rm(BUNDLE);
console.log(
  `web/dist/sw.js: ${count} files, ${(size / 1e6).toFixed(1)} MB in the shell; ${onUse.length} on use`,
);

/** @param {string[]} patterns @param {string[]} except */
async function globbed(patterns, except = []) {
  const { globSync } = await import('tinyglobby');
  return globSync(patterns, { cwd: DIST, ignore: except }).sort();
}

/**
 * The browser refuses a file of the shell that is not what was built.
 * @type {import('workbox-build').ManifestTransform}
 */
async function withIntegrity(entries) {
  const manifest = [];
  for (const entry of entries) {
    const hash = createHash('sha256')
      .update(await readFile(`${DIST}/${entry.url}`))
      .digest('base64');
    manifest.push({ ...entry, integrity: `sha256-${hash}` });
  }
  return { manifest };
}
