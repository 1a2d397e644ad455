import type { BackendResult, Contract, Variant } from '../../web/src/shared/contract';

const SHA = '0'.repeat(64);

/** A small valid contract. */
export function contract(): Contract {
  return {
    schema_version: 2,
    name: 'numbers',
    version: 1,
    title: 'Numbers',
    description: 'Reads one of three numbers.',
    task: 'image-classification',
    licence: 'MIT',
    labels: ['zero', 'one', 'two'],
    input: {
      kind: 'image',
      tensor: 'pixels',
      resize: { filter: 'bilinear', short_side: null },
      fit: 'stretch',
      padding: [128, 128, 128],
      orientation: 'exif',
      background: [255, 255, 255],
      colour_profile: 'ignore',
    },
    inputs: [{ name: 'pixels', dtype: 'uint8', shape: ['batch', 4, 4, 3] }],
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
      variant('q8', 'wasm', { wasm: 'passed', webgpu: 'not-offered' }),
      variant('fp16', 'webgpu', { wasm: 'not-offered' }),
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
  statuses: Record<string, BackendResult['status']>,
): Variant {
  const backends = Object.fromEntries(
    Object.entries(statuses).map(([backend, status]) => [
      backend,
      { status, why: status === 'passed' ? null : '2.0 % of labels differ' },
    ]),
  );
  return { name, file: `${name}.onnx`, size_bytes: 1, sha256: SHA, entry, backends };
}
