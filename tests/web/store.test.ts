import { expect, test } from 'vitest';
import { outdated } from '../../web/src/worker/store';

const SITE = 'https://example.org/models';

function stored(name: string, version: number) {
  const contract = { file: 'contract.json', size_bytes: 1, sha256: 'a'.repeat(64) };
  return { versionUrl: `${SITE}/${name}/${version}/`, version, contract, files: [contract] };
}

test.each([
  { there: [1], now: 1, dropped: [] },
  { there: [1, 2], now: 2, dropped: [] },
  { there: [1, 2, 3], now: 3, dropped: [1] },
  { there: [2, 9, 10, 11], now: 11, dropped: [2, 9] },
  { there: [1, 2, 3, 4], now: 3, dropped: [1] },
  { there: [1, 2, 3], now: 1, dropped: [] },
])('with $there stored, storing $now drops $dropped', ({ there, now, dropped }) => {
  const all = there.map(version => stored('digits', version));
  expect(outdated(all, stored('digits', now)).map(({ version }) => version)).toEqual(dropped);
});

test('versions of other models stay', () => {
  const all = [stored('letters', 1), stored('letters', 2), stored('digits', 1), stored('digits', 9)];
  expect(outdated(all, stored('digits', 9))).toEqual([]);
});
