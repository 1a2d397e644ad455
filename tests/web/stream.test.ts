import { expect, test } from 'vitest';
import type { Contract, SoundInput, Tensor } from '../../web/src/shared/contract';
import { float32Tensor, floatsOf, type TensorData } from '../../web/src/shared/tensors';
import { checkTensors } from '../../web/src/worker/check-tensors';
import { runStream, streamingOf } from '../../web/src/worker/stream';
import { contract } from './contract';

const input: SoundInput = {
  kind: 'sound',
  tensor: 'samples',
  rate: 16000,
  mono: 'mean',
  resample: 'kaiser-polyphase',
  window_samples: null,
  stream: { step_samples: 4, states: [{ input: 'sum', output: 'new_sum' }] },
};
const inputs: [Tensor, ...Tensor[]] = [
  { name: 'samples', dtype: 'float32', shape: ['batch', 4] },
  { name: 'sum', dtype: 'float32', shape: [2, 'batch', 1] },
];
const sound: Contract = { ...contract(), input, inputs };

/** The running sum of all samples, at the middle and at the end of each step; remembers what it was fed. */
function network() {
  const fed: TensorData[][] = [];
  const run = async (tensors: readonly TensorData[]): Promise<readonly TensorData[]> => {
    fed.push([...tensors]);
    const [samples, state] = ['samples', 'sum'].map(name => floatsOf(named(tensors, name)));
    const [a = 0, b = 0, c = 0, d = 0] = samples ?? [];
    const before = state?.[0] ?? Number.NaN;
    return [
      float32Tensor('probabilities', [before + a + b, before + a + b + c + d]),
      float32Tensor('new_sum', [before + a + b + c + d, 0], [2, 1, 1]),
    ];
  };
  return { run, fed };
}

function named(tensors: readonly TensorData[], name: string): TensorData {
  const found = tensors.find(tensor => tensor.name === name);
  if (found === undefined) throw new Error(`${name} was not fed`);
  return found;
}

function streaming() {
  const found = streamingOf(sound);
  if (found === null) throw new Error('not streamed');
  return found;
}

test('states begin as zeros and are carried on, outputs are joined along axis 1, states are no outputs', async () => {
  const { run, fed } = network();
  const outputs = await runStream(run, [float32Tensor('samples', [1, 2, 3, 4, 5, 6, 7, 8])], streaming());
  expect(outputs.map(({ name, shape }) => ({ name, shape }))).toEqual([
    { name: 'probabilities', shape: [1, 4] },
  ]);
  expect([...floatsOf(named(outputs, 'probabilities'))]).toEqual([3, 10, 21, 36]);
  expect(fed.map(step => named(step, 'samples').shape)).toEqual([
    [1, 4],
    [1, 4],
  ]);
  expect(named(fed[0] ?? [], 'sum').shape).toEqual([2, 1, 1]);
});

test('the last step is filled with zeros', async () => {
  const { run, fed } = network();
  const outputs = await runStream(run, [float32Tensor('samples', [1, 2, 3, 4, 5])], streaming());
  expect([...floatsOf(named(fed[1] ?? [], 'samples'))]).toEqual([5, 0, 0, 0]);
  expect(named(outputs, 'probabilities').shape).toEqual([1, 4]);
});

test('no samples are one step of silence', async () => {
  const { run, fed } = network();
  const outputs = await runStream(run, [float32Tensor('samples', [])], streaming());
  expect(fed).toHaveLength(1);
  expect([...floatsOf(named(outputs, 'probabilities'))]).toEqual([0, 0]);
});

test('any number of samples may be given, and no states', () => {
  const samples = float32Tensor('samples', [1, 2, 3, 4, 5]);
  expect(checkTensors(sound, [samples])).toEqual([samples]);
  expect(() => checkTensors(sound, [samples, float32Tensor('sum', [0, 0], [2, 1, 1])])).toThrow(
    expect.objectContaining({ code: 'bad-input' }),
  );
});

test('outputs that have no axis 1 cannot be joined', async () => {
  const run = async () => [float32Tensor('p', [1], [1]), float32Tensor('new_sum', [0, 0], [2, 1, 1])];
  await expect(runStream(run, [float32Tensor('samples', [1])], streaming())).rejects.toThrow('along axis 1');
});

test('a state whose shape the contract does not tell is a broken contract', async () => {
  const { run } = network();
  const unknown = { ...streaming(), inputs: [{ name: 'sum', dtype: 'float32', shape: null } as const] };
  await expect(runStream(run, [float32Tensor('samples', [1])], unknown)).rejects.toMatchObject({
    code: 'bad-contract',
  });
});

test('an input that is not streamed is not', () => {
  expect(streamingOf(contract())).toBeNull();
  expect(streamingOf({ ...sound, input: { ...input, stream: null } })).toBeNull();
});
