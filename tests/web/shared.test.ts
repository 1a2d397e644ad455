import { expect, test } from 'vitest';
import { parseAddress } from '../../web/src/shared/address';
import { verify } from '../../web/src/shared/digest';
import { parseContract, parseIndex } from '../../web/src/shared/parse';
import { contract } from './contract';

test.each([
  {
    url: 'http://a.b/models/digits/',
    expected: { kind: 'current', name: 'digits', indexUrl: 'http://a.b/models/index.json' },
  },
  {
    url: 'http://a.b/models/digits',
    expected: { kind: 'current', name: 'digits', modelUrl: 'http://a.b/models/digits/' },
  },
  {
    url: 'http://a.b/x/models/digits/12/?q#f',
    expected: { kind: 'version', name: 'digits', versionUrl: 'http://a.b/x/models/digits/12/' },
  },
])('$url is $expected.kind', ({ url, expected }) => {
  expect(parseAddress(url)).toMatchObject(expected);
});

test('the root is no model', () => {
  expect(() => parseAddress('http://a.b/')).toThrow(expect.objectContaining({ code: 'not-found' }));
});

test('a valid contract is read as it is', () => {
  expect(parseContract(JSON.stringify(contract()), 'contract.json')).toEqual(contract());
});

test.each([
  { what: 'not JSON', text: '<!doctype html>', message: 'not JSON' },
  { what: 'a bare NaN', text: '{"schema_version": NaN}', message: 'not JSON' },
  { what: 'an unknown key', text: JSON.stringify({ ...contract(), extra: 1 }), message: 'extra' },
  {
    what: 'a file outside the version',
    text: JSON.stringify(contract()).replace('q8.onnx', '../q8.onnx'),
    message: 'variants/1/file',
  },
  { what: 'a wrong hash', text: JSON.stringify(contract()).replace('0'.repeat(64), 'zz'), message: 'sha256' },
])('$what is refused, by name of file and field', ({ text, message }) => {
  expect(() => parseContract(text, 'numbers/1/contract.json')).toThrow(
    expect.objectContaining({
      code: 'bad-contract',
      message: expect.stringMatching(new RegExp(`^numbers/1/contract.json: .*${message}`)),
    }),
  );
});

test('a valid index is read as it is', () => {
  const event = { action: 'publish', version: 1, at: '2026-11-30T12:00:00Z', by: '', why: 'first' };
  const entry = {
    title: 'Numbers',
    description: 'Reads one of three numbers.',
    task: 'image-classification',
    kind: 'table',
    version: 1,
    versions: [1],
    contract: { file: 'numbers/1/contract.json', size_bytes: 1, sha256: '0'.repeat(64) },
    published: '2026-11-30',
    sample: null,
    history: [event],
  };
  const index = { schema_version: 2, models: { numbers: entry } };
  expect(parseIndex(JSON.stringify(index), 'index.json')).toEqual(index);
});

test('an index of the schema before is refused', () => {
  expect(() => parseIndex('{"schema_version": 1, "models": {}}', 'index.json')).toThrow(
    expect.objectContaining({ code: 'bad-contract' }),
  );
});

const ref = {
  file: 'model.onnx',
  size_bytes: 3,
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
};

test('bytes that are what the contract says pass', async () => {
  await expect(verify(new TextEncoder().encode('abc'), ref)).resolves.toBeUndefined();
});

test.each([
  { what: 'one flipped bit', text: 'abb', message: 'sha256 is' },
  { what: 'one byte too few', text: 'ab', message: '2 bytes came, the contract says 3' },
])('$what is refused, with the file and both values', async ({ text, message }) => {
  await expect(verify(new TextEncoder().encode(text), ref)).rejects.toMatchObject({
    code: 'wrong-bytes',
    message: expect.stringMatching(new RegExp(`^model.onnx: .*${message}`)),
  });
});
