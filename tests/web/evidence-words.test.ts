import { expect, test } from 'vitest';
import { interval, measured, summary, worst } from '../../web/src/page/evidence-words';
import type { Measurement } from '../../web/src/shared/evidence';

const one: Measurement = {
  what: 'accuracy',
  variant: 'q8',
  where: 'chromium-wasm-1-thread',
  data: 'labelled data',
  count: 2000,
  value: 0.993,
  unit: 'share',
};

test('an interval has the digits of its value and no second unit; where none was measured there is none', () => {
  expect(interval({ ...one, low: 0.988, high: 0.996 })).toBe('(98.80-99.60)');
  expect(interval(one)).toBe('');
  expect(interval({ ...one, low: null, high: null })).toBe('');
});

test.each([
  { what: 'cosine', value: 0.9999999, shown: '0.999999' },
  { what: 'cosine', value: 0.973, shown: '0.973' },
  { what: 'cosine', value: 1, shown: '1' },
  { what: 'paired_p_value', value: 0.0004, shown: '< 0.001' },
  { what: 'paired_p_value', value: 0.25, shown: '0.250' },
  { what: 'p95_ms', value: 4.13, shown: '4.1\u00a0ms' },
  { what: 'batch_difference', value: 0, shown: '0' },
] as const)('$what of $value is shown as $shown', ({ what, value, shown }) => {
  expect(measured(what, value)).toBe(shown);
});

test('the worst cosine is the smallest, the worst difference the largest', () => {
  const of = (what: Measurement['what'], ...values: number[]) =>
    values.map(value => ({ ...one, what, value }));
  expect(worst('cosine', of('cosine', 0.9, 0.99))).toBe(0.9);
  expect(worst('batch_difference', of('batch_difference', 0.1, 0.2))).toBe(0.2);
});

test('a model that gives vectors is summed up by their likeness', () => {
  const evidence = {
    schema_version: 2 as const,
    name: 'sentences',
    judge: 'PyTorch',
    environment: {},
    notes: [],
    measurements: [{ ...one, what: 'cosine' as const, value: 0.98765, count: 24, passed: true }],
  };
  expect(summary(evidence, 'q8')).toBe(
    "cosine of at least 0.98765 to the judge's vector on 24 inputs; 1 of 1 limits held",
  );
});
