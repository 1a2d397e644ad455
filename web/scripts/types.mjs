// Writes the TypeScript types of a version's JSON files and of index.json from their JSON Schemas.
// `--check` writes nothing and fails when a committed file is not what its schema gives.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const SHARED = new URL('../src/shared/', import.meta.url);
const FILES = [
  { schema: 'contract.schema.json', types: 'contract.ts', name: 'Contract' },
  { schema: 'index.schema.json', types: 'index-file.ts', name: 'Index' },
  { schema: 'evidence.schema.json', types: 'evidence.ts', name: 'Evidence' },
  { schema: 'details.schema.json', types: 'details.ts', name: 'Details' },
];

const stale = [];
for (const { schema, types, name } of FILES) {
  const target = new URL(types, SHARED);
  const text = await generate(schema, name);
  if (!process.argv.includes('--check')) await writeFile(target, text);
  else if (text !== (await readFile(target, 'utf8').catch(() => ''))) stale.push(fileURLToPath(target));
}
if (stale.length > 0) {
  console.error(`Not what the schema gives: ${stale.join(', ')}\nRun: npm run types`);
  process.exitCode = 1;
}

/** @param {string} schema @param {string} name */
async function generate(schema, name) {
  const parsed = JSON.parse(await readFile(new URL(schema, SHARED), 'utf8'));
  const banner = `// Generated from ${schema} by web/scripts/types.mjs: change the schema, then run \`npm run types\`.`;
  const text = await compile(parsed, name, {
    bannerComment: banner,
    style: { singleQuote: true, printWidth: 110 },
    unreachableDefinitions: false,
    strictIndexSignatures: false,
  });
  // The generator's remark on patternProperties names a thing called `undefined`.
  return text.replace(/ \* ?\n \* This interface was referenced by `undefined`'s[\s\S]*?(?= \*\/)/g, '');
}
