import { expect, test } from 'vitest';
import { JobQueue } from '../../web/src/worker/job-queue';

test('jobs run one after another, in order', async () => {
  const queue = new JobQueue();
  const log: string[] = [];
  const job = (name: string) => async () => {
    log.push(`${name} starts`);
    await Promise.resolve();
    log.push(`${name} ends`);
  };
  await Promise.all([queue.add(1, job('first')), queue.add(2, job('second'))]);
  expect(log).toEqual(['first starts', 'first ends', 'second starts', 'second ends']);
});

test('a job that fails stops nothing', async () => {
  const queue = new JobQueue();
  const failed = queue.add(1, () => Promise.reject(new Error('no')));
  const next = queue.add(2, async () => 'yes');
  await expect(failed).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
});

test('a job that waits can be called off and never starts', async () => {
  const queue = new JobQueue();
  let started = false;
  const first = queue.add(1, async () => 'done');
  const second = queue.add(2, async () => {
    started = true;
  });
  queue.abort(2);
  await expect(first).resolves.toBe('done');
  await expect(second).rejects.toMatchObject({ code: 'aborted' });
  expect(started).toBe(false);
});
