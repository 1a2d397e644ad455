// The verify page: what Python drives through Playwright, running the very runtime and worker that users run.
//
// `window.likewise` (all bytes cross as base64; every call gives plain JSON or rejects with `code: message`):
//
//   environment()                      -> { isolated, userAgent, cores, ort }
//   load(url, options)                 -> { handle, ran, report, contract }
//       options: { variant?, backend?, threads?, allowUnverified? }; `handle` names the model in later calls.
//       Without `variant` the contract's best for the backend runs, and there has to be one.
//   predict(handle, inputs)            -> Result[], one per encoded input (a file's bytes: picture, row, ...)
//   predictTensors(handle, inputs)     -> Result[], one per decoded input: the list of its tensors, states left out
//       Tensor: { name, dtype, shape, data }, dtype bool, uint8, int32, int64, float32 or string; data little-endian,
//               strings as in the v2 protocol: each its length in 4 bytes, then its UTF-8
//       Result: { answers, sure, timing, tensors: [Tensor & { sha256 }], outputs: [Tensor] }
//               or { error: { code, message } }, so that one refused input does not lose its batch;
//               `answers` is empty where the contract's decision is no choice among labels
//   decode(handle, inputs)             -> [{ ms, tensors: [Tensor & { sha256 }] } or { error }]
//   pixels(pictures, background)       -> [{ width, height, data } or { error }]: RGBX, decoded, turned, laid on
//   benchmark(handle, tensors, runs)   -> [ms]: bare runs in the worker on one decoded input, a stream's over all steps
//   time(handle, tensors, runs)        -> [ms]: whole predictTensors calls as the page makes them
//   resize(cases)                      -> [base64]: the resizer alone
//       case: { data, width, height, channels, filter, size: [width, height], window?: [x, y, width, height] }
//   offline()                          -> true when a service worker keeps the page for use without a network
//   close(handle)                      -> null
import {
  type Datatype,
  LikewiseError,
  type LoadOptions,
  load,
  type Model,
  offline,
  type Prediction,
  type TensorData,
} from '../runtime';
import { sha256 } from '../shared/digest';
import { toShape } from '../shared/errors';
import { layOn } from '../worker/decode/background';
import { toPixels } from '../worker/decode/pixels';
import { type Filter, resize } from '../worker/decode/resize';
import { fromBase64, toBase64 } from './base64';

interface PackedTensor {
  readonly name: string;
  readonly dtype: Datatype;
  readonly shape: readonly number[];
  readonly data: string;
}

interface ResizeCase {
  readonly data: string;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly filter: Filter;
  readonly size: readonly [number, number];
  readonly window?: readonly [number, number, number, number];
}

const models = new Map<number, Model>();
/** Only goes up: a handle never comes to name another model. */
let lastHandle = 0;

const likewise = {
  environment: () => ({
    isolated: crossOriginIsolated,
    userAgent: navigator.userAgent,
    cores: navigator.hardwareConcurrency,
    ort: __ORT_VERSION__,
  }),

  offline: () => offline(),

  async load(url: string, options: LoadOptions = {}) {
    const model = await load(url, options).catch(tell);
    lastHandle += 1;
    const handle = lastHandle;
    models.set(handle, model);
    const { ran, contract } = model;
    // Storing must not disturb what is measured next.
    const report = { ...model.report, ...(await model.whenKept) };
    return { handle, ran, report, contract };
  },

  predict: (handle: number, inputs: readonly string[]) =>
    each(inputs, async input => asResult(await opened(handle).predict(new Blob([fromBase64(input)])))),

  predictTensors: (handle: number, inputs: readonly (readonly PackedTensor[])[]) =>
    each(inputs, async tensors => asResult(await opened(handle).predictTensors(tensors.map(unpacked)))),

  decode: (handle: number, inputs: readonly string[]) =>
    each(inputs, async input => {
      const blob = new Blob([fromBase64(input)]);
      const start = performance.now();
      const tensors = await opened(handle).decode(blob);
      return { ms: performance.now() - start, tensors: await hashed(tensors) };
    }),

  pixels: (pictures: readonly string[], background: readonly [number, number, number]) =>
    each(pictures, async picture => {
      const { width, height, data } = layOn(await toPixels(new Blob([fromBase64(picture)])), background);
      return { width, height, data: toBase64(new Uint8Array(data)) };
    }),

  benchmark: (handle: number, tensors: readonly PackedTensor[], runs: number) =>
    opened(handle).benchmark(tensors.map(unpacked), runs).catch(tell),

  async time(handle: number, tensors: readonly PackedTensor[], runs: number) {
    const given = tensors.map(unpacked);
    const times: number[] = [];
    for (let i = 0; i < runs; i += 1) {
      const start = performance.now();
      await opened(handle).predictTensors(given).catch(tell);
      times.push(performance.now() - start);
    }
    return times;
  },

  resize: (cases: readonly ResizeCase[]) => cases.map(one => toBase64(resizeCase(one))),

  async close(handle: number) {
    await opened(handle).close();
    models.delete(handle);
    return null;
  },
};

declare global {
  interface Window {
    likewise: typeof likewise;
  }
  /** Of the onnxruntime-web package, put in by the build. */
  const __ORT_VERSION__: string;
}

window.likewise = likewise;

function opened(handle: number): Model {
  const model = models.get(handle);
  if (model === undefined) throw new LikewiseError('closed', `No model ${handle} is open.`);
  return model;
}

/** Playwright passes on an error's message only. */
function tell(error: unknown): never {
  const { code, message } = toShape(error);
  throw new Error(`${code}: ${message}`);
}

async function each<T, R>(items: readonly T[], act: (item: T) => Promise<R>) {
  const results = [];
  for (const item of items)
    results.push(await act(item).catch((error: unknown) => ({ error: toShape(error) })));
  return results;
}

async function asResult({ answers, sure, timing, tensors, outputs }: Prediction) {
  return { answers, sure, timing, tensors: await hashed(tensors), outputs: outputs.map(packed) };
}

function hashed(tensors: readonly TensorData[]) {
  return Promise.all(tensors.map(async one => ({ ...packed(one), sha256: await sha256(one.data) })));
}

function packed({ name, dtype, shape, data }: TensorData): PackedTensor {
  return { name, dtype, shape, data: toBase64(data) };
}

function unpacked({ name, dtype, shape, data }: PackedTensor): TensorData {
  return { name, dtype, shape, data: fromBase64(data) };
}

function resizeCase({ data, width, height, channels, filter, size, window: part }: ResizeCase): Uint8Array {
  const [x, y, partWidth, partHeight] = part ?? [0, 0, ...size];
  const bytes = fromBase64(data);
  const source = { data: channels === 3 ? toRgbx(bytes) : bytes, width, height, channels };
  return resize(source, {
    size: { width: size[0], height: size[1] },
    window: { x, y, width: partWidth, height: partHeight },
    filter,
  });
}

function toRgbx(rgb: Uint8Array): Uint8Array {
  const rgbx = new Uint8Array((rgb.length / 3) * 4);
  for (let i = 0; i < rgb.length / 3; i += 1) rgbx.set(rgb.subarray(3 * i, 3 * i + 3), 4 * i);
  return rgbx;
}
