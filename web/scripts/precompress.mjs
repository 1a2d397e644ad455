// Puts a .br and a .gz beside each file of web/dist that compresses, for servers that send them as they are.
// Results are kept by content under .likewise/cache/brotli, since the runtime's wasm takes seconds to minutes.
// Why not the best quality for it: docs/decisions/0003-precompression.md.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { globSync } from 'tinyglobby';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const DIST = here('../dist');
const CACHE = here('../../.likewise/cache/brotli');
const FILES = '**/*.{js,mjs,css,html,json,svg,wasm,webmanifest}';

const BEST = constants.BROTLI_MAX_QUALITY;
const LARGE_BYTES = 1_000_000;
const largeQuality = Number(process.env.LIKEWISE_BROTLI_QUALITY ?? 9);
if (!(largeQuality >= 1 && largeQuality <= BEST)) {
  throw new Error(`LIKEWISE_BROTLI_QUALITY is ${process.env.LIKEWISE_BROTLI_QUALITY}, must be 1 to ${BEST}`);
}

const start = performance.now();
await mkdir(CACHE, { recursive: true });
// All at once: zlib works on threads of its own.
const results = await Promise.all(globSync(FILES, { cwd: DIST }).sort().map(precompress));
const bytes = results.reduce((sum, result) => sum + result.bytes, 0);
const compressed = results.reduce((sum, result) => sum + result.compressed, 0);
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.log(
  `web/dist: ${results.length} files, ${megabytes(bytes)} MB, as brotli ${megabytes(compressed)} MB, ${seconds} s`,
);

/** @param {string} name */
async function precompress(name) {
  const file = `${DIST}/${name}`;
  const data = await readFile(file);
  const hash = createHash('sha256').update(data).digest('hex');
  const quality = data.length > LARGE_BYTES ? largeQuality : BEST;
  // The largest window costs half as much time again at quality 9, for half a percent.
  const window = quality === BEST ? constants.BROTLI_MAX_WINDOW_BITS : 22;
  const version = process.versions.brotli;
  await cached(`${hash}-${version}-${quality}-${window}.br`, `${file}.br`, () =>
    promisify(brotliCompress)(data, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: quality,
        [constants.BROTLI_PARAM_LGWIN]: window,
        [constants.BROTLI_PARAM_SIZE_HINT]: data.length,
      },
    }),
  );
  await cached(`${hash}-${process.versions.zlib}.gz`, `${file}.gz`, () =>
    promisify(gzip)(data, { level: 9 }),
  );
  return { bytes: data.length, compressed: (await stat(`${file}.br`)).size };
}

/** @param {string} key @param {string} target @param {() => Promise<Buffer>} compress */
async function cached(key, target, compress) {
  const kept = `${CACHE}/${key}`;
  if (!(await stat(kept).catch(() => null))) {
    // Written aside first: an interrupted build must not leave half a file under the right name.
    const partial = `${kept}.${process.pid}`;
    await writeFile(partial, await compress());
    await rename(partial, kept);
  }
  await copyFile(kept, target);
}

/** @param {number} bytes */
function megabytes(bytes) {
  return (bytes / 1e6).toFixed(2);
}
