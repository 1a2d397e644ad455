import { expect, test } from 'vitest';
import { choose } from '../../web/src/worker/choose';
import { contract } from './contract';

const isolated = { isolated: true, cores: 8 };

test('without wishes the contract’s best for wasm runs on up to four threads, and why is told', () => {
  const choice = choose(contract(), {}, isolated);
  expect(choice).toMatchObject({
    backend: 'wasm',
    threads: 4,
    asked: { variant: null, backend: null, threads: null },
  });
  expect(choice.variant.name).toBe('q8');
  expect(choice.why.join('; ')).toMatch(/q8 is the contract's best for wasm.*4 of 8 cores/);
});

test.each([
  { device: { isolated: true, cores: 2 }, asked: undefined, threads: 2, why: '2 of 2 cores' },
  { device: isolated, asked: 1, threads: 1, why: '' },
  { device: isolated, asked: 8, threads: 8, why: '' },
  { device: { isolated: false, cores: 8 }, asked: 4, threads: 1, why: 'not cross-origin isolated' },
  { device: { isolated: false, cores: 8 }, asked: undefined, threads: 1, why: 'not cross-origin isolated' },
])('asked for $asked threads on $device, $threads run', ({ device, asked, threads, why }) => {
  const choice = choose(contract(), asked === undefined ? {} : { threads: asked }, device);
  expect(choice.threads).toBe(threads);
  expect(choice.why.join('; ')).toContain(why);
});

test.each([
  { wishes: { variant: 'q8', backend: 'webgpu' }, code: 'backend-unavailable' },
  { wishes: { variant: 'fp16' }, code: 'unverified' },
  { wishes: { variant: 'fp16', backend: 'webgpu' }, code: 'unverified' },
  { wishes: { variant: 'q4' }, code: 'not-found' },
] as const)('$wishes is refused: $code', ({ wishes, code }) => {
  expect(() => choose(contract(), wishes, isolated)).toThrow(expect.objectContaining({ code }));
});

test('what is not offered is refused with the reason that the contract gives', () => {
  expect(() => choose(contract(), { variant: 'fp16' }, isolated)).toThrow(
    'numbers/1 fp16: not offered on wasm: 2.0 % of labels differ',
  );
});

test('what only the wasm runtime has operators for never runs on webgpu, not even for verify', () => {
  const wishes = { variant: 'q8', backend: 'webgpu', allowUnverified: true } as const;
  expect(() => choose(contract(), wishes, isolated)).toThrow(
    expect.objectContaining({ code: 'backend-unavailable' }),
  );
});

test('a backend on which nothing has passed is refused', () => {
  expect(() => choose({ ...contract(), best: {} }, {}, isolated)).toThrow(
    expect.objectContaining({ code: 'unverified' }),
  );
});

test('verify may run what has no evidence, and it is told', () => {
  const choice = choose(contract(), { variant: 'fp16', allowUnverified: true }, isolated);
  expect(choice.variant.name).toBe('fp16');
  expect(choice.why.join('; ')).toContain('not offered on wasm, allowed on request');
});
