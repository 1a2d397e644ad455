// The raw worker: opens any model's bytes in the page's own runtimes, without a contract. Whoever drives it ends
// the worker when it hangs.

import { toShape } from '../shared/errors';
import type {
  RawCall,
  RawCalls,
  RawOpened,
  RawPort,
  RawReply,
  RawRequest,
  RawTensor,
} from '../shared/raw-messages';
import { loadRuntime, type Runtime } from './session';

type RuntimeSession = Awaited<ReturnType<Runtime['InferenceSession']['create']>>;
type RuntimeTensor = InstanceType<Runtime['Tensor']>;

interface View {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, offset: number, length: number): ArrayBufferView;
}

/** Browsers that have Float16Array want it, older ones the bits as Uint16Array. */
const HALVES = (globalThis as { readonly Float16Array?: View }).Float16Array ?? Uint16Array;

const VIEWS: Readonly<Record<string, View>> = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float16: HALVES,
  float32: Float32Array,
  float64: Float64Array,
};

let runtime: Runtime | null = null;
let session: RuntimeSession | null = null;

self.addEventListener('message', (event: MessageEvent<RawRequest>) => void answer(event.data));

async function answer(request: RawRequest): Promise<void> {
  const reply: RawReply = await perform(request).then(
    value => ({ value }),
    (error: unknown) => ({ error: toShape(error) }),
  );
  self.postMessage(reply);
}

async function perform({ kind, args }: RawRequest): Promise<RawCalls[RawCall]['value']> {
  if (kind === 'open') return open(args);
  if (kind === 'run') return run(args.feeds);
  await session?.release();
  session = null;
  return null;
}

async function open({ model, backend }: RawCalls['open']['args']): Promise<RawOpened> {
  await session?.release();
  session = null;
  runtime = await loadRuntime(backend, 1);
  session = await runtime.InferenceSession.create(model, {
    executionProviders: [backend],
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  return { inputs: session.inputMetadata.map(toPort), outputs: session.outputMetadata.map(toPort) };
}

function toPort(about: RuntimeSession['inputMetadata'][number]): RawPort {
  return about.isTensor
    ? { name: about.name, type: about.type, shape: about.shape }
    : { name: about.name, type: 'no tensor', shape: [] };
}

async function run(feeds: readonly RawTensor[]): Promise<readonly RawTensor[]> {
  if (runtime === null || session === null) throw new Error('no model is open');
  const { Tensor } = runtime;
  const named = feeds.map(feed => [feed.name, toRuntime(Tensor, feed)] as const);
  const results = await session.run(Object.fromEntries(named));
  return session.outputNames.flatMap(name => {
    const tensor = results[name];
    return tensor === undefined ? [] : [fromRuntime(name, tensor as RuntimeTensor)];
  });
}

function toRuntime(Tensor: Runtime['Tensor'], { name, type, shape, data }: RawTensor): RuntimeTensor {
  if (!(data instanceof Uint8Array)) return new Tensor('string', data, shape);
  const view = VIEWS[type];
  if (view === undefined) throw new Error(`${name}: inputs of type ${type} cannot be given in a browser`);
  const values = new view(data.buffer, data.byteOffset, data.byteLength / view.BYTES_PER_ELEMENT);
  // The constructor takes each type with its own array, which a table of them cannot tell the compiler.
  return new (Tensor as new (type: string, data: unknown, shape: readonly number[]) => RuntimeTensor)(
    type,
    values,
    shape,
  );
}

function fromRuntime(name: string, { type, dims, data }: RuntimeTensor): RawTensor {
  if (Array.isArray(data)) return { name, type, shape: dims, data };
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  return { name, type, shape: dims, data: new Uint8Array(buffer, byteOffset, byteLength).slice() };
}
