// Sound to PCM of one channel and one rate: docs/decoders.md, "Sound".
import type { SoundInput } from '../../shared/contract';
import type { TensorData } from '../../shared/tensors';
import { readBytes } from '../../shared/text-file';
import { resample } from './resample';
import { readWav, type Wave } from './wav';

/** float32 [1, samples] at the contract's rate. Throws bad-input saying what is wrong with the file. */
export async function decodeSound(file: Blob, spec: SoundInput): Promise<TensorData> {
  const wave = readWav(await readBytes(file));
  const most = spec.window_samples ?? undefined;
  const samples = resample(meanOfChannels(wave), wave.rate, spec.rate, most);
  const filled = new Float32Array(most ?? samples.length);
  filled.set(samples);
  return {
    name: spec.tensor,
    dtype: 'float32',
    shape: [1, filled.length],
    data: new Uint8Array(filled.buffer),
  };
}

/** Added in float64 from the first channel to the last, divided, rounded once. */
function meanOfChannels({ samples, channels }: Wave): Float32Array {
  if (channels === 1) return samples;
  const mono = new Float32Array(samples.length / channels);
  for (let frame = 0; frame < mono.length; frame += 1) {
    let total = 0;
    for (let channel = 0; channel < channels; channel += 1) total += samples[frame * channels + channel] ?? 0;
    mono[frame] = total / channels;
  }
  return mono;
}
