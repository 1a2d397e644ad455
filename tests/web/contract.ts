import type { Contract, Variant } from '../../web/src/shared/contract';

const SHA = '0'.repeat(64);

/** A small valid contract. */
export function contract(): Contract {
  return {
    schema_version: 1,
    name: 'numbers',
    version: 1,
    title: 'Numbers',
    description: 'Reads one of three numbers.',
    task: 'image-classification',
    licence: 'MIT',
    labels: ['zero', 'one', 'two'],
    input: {
      kind: 'image',
      tensor: { name: 'pixels', dtype: 'uint8', shape: ['batch', 4, 4, 3] },
      resize: { filter: 'bilinear', short_side: null },
      orientation: 'exif',
      background: [255, 255, 255],
      colour_profile: 'ignore',
    },
    outputs: [{ name: 'probabilities', dtype: 'float32', shape: ['batch', 3] }],
    decision: {
      kind: 'scores',
      probabilities: 'probabilities',
      top_probabilities: 'top_probabilities',
      top_indices: 'top_indices',
      top_k: 2,
      ask_a_person_below: 0.5,
    },
    variants: [
      variant('fp32', 'webgpu', { wasm: 'passed', webgpu: 'passed' }),
      variant('q8', 'wasm', { wasm: 'passed', webgpu: 'failed' }),
      variant('fp16', 'webgpu', { wasm: 'failed' }),
    ],
    best: { wasm: 'q8', webgpu: 'fp32' },
    examples: [],
    documents: [],
    provenance: {
      source_kind: 'torch',
      judge: 'PyTorch',
      tools: {},
      data: 'none',
      built: '2026-11-30',
      build_key: SHA,
    },
  };
}

function variant(
  name: Variant['name'],
  entry: Variant['entry'],
  statuses: Record<string, 'passed' | 'failed'>,
): Variant {
  const backends = Object.fromEntries(
    Object.entries(statuses).map(([backend, status]) => [backend, { status }]),
  );
  return { name, file: `${name}.onnx`, size_bytes: 1, sha256: SHA, entry, backends };
}
