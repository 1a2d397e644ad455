// What to run: every choice that is made for the user is named in `why`.
import type { Backend, LoadOptions, Ran } from '../runtime/types';
import type { Contract, Variant } from '../shared/contract';
import { LikewiseError } from '../shared/errors';

const MAX_THREADS = 4;

const STATUSES = { passed: 'passed', unverified: 'unverified', 'not-offered': 'not offered' } as const;

type Wishes = Pick<LoadOptions, 'variant' | 'backend' | 'threads' | 'allowUnverified'>;

export interface Choice {
  readonly variant: Variant;
  readonly backend: Backend;
  readonly threads: number;
  readonly asked: Ran['asked'];
  readonly why: readonly string[];
}

export interface Device {
  readonly isolated: boolean;
  readonly cores: number;
}

/** Throws `unverified` unless the contract says that the variant passed on the backend. */
export function choose(contract: Contract, wishes: Wishes, device: Device): Choice {
  const asked = {
    variant: wishes.variant ?? null,
    backend: wishes.backend ?? null,
    threads: wishes.threads ?? null,
  };
  const backend = wishes.backend ?? 'wasm';
  const { variant, why: whyVariant } = chooseVariant(contract, backend, wishes);
  const { threads, why: whyThreads } = chooseThreads(backend, wishes.threads, device);
  const whyBackend = asked.backend === null ? ['wasm unless asked otherwise'] : [];
  return { variant, backend, threads, asked, why: [...whyVariant, ...whyBackend, ...whyThreads] };
}

function chooseVariant(
  contract: Contract,
  backend: Backend,
  wishes: Wishes,
): { variant: Variant; why: readonly string[] } {
  const where = `${contract.name}/${contract.version}`;
  const name = wishes.variant ?? contract.best[backend];
  if (name === undefined) {
    throw new LikewiseError('unverified', `${where}: no variant has passed on ${backend}`);
  }
  const variant = contract.variants.find(v => v.name === name);
  if (variant === undefined) {
    const offered = contract.variants.map(v => v.name).join(', ');
    throw new LikewiseError('not-found', `${where}: no variant ${name}; offered: ${offered}`);
  }
  if (backend === 'webgpu' && variant.entry === 'wasm') {
    throw new LikewiseError(
      'backend-unavailable',
      `${where} ${name}: has operators that the WebGPU runtime lacks; use wasm`,
    );
  }
  const result = variant.backends[backend];
  const status = STATUSES[result?.status ?? 'unverified'];
  if (result?.status !== 'passed' && wishes.allowUnverified !== true) {
    const reason = result?.why ? `: ${result.why}` : '';
    throw new LikewiseError('unverified', `${where} ${name}: ${status} on ${backend}${reason}`);
  }
  const why = wishes.variant === undefined ? [`${name} is the contract's best for ${backend}`] : [];
  return {
    variant,
    why: result?.status === 'passed' ? why : [...why, `${status} on ${backend}, allowed on request`],
  };
}

function chooseThreads(
  backend: Backend,
  asked: number | undefined,
  device: Device,
): { threads: number; why: readonly string[] } {
  if (backend === 'webgpu')
    return {
      threads: 1,
      why: asked === undefined || asked === 1 ? [] : ['1 thread: webgpu computes on the graphics card'],
    };
  if (!device.isolated)
    return { threads: 1, why: asked === 1 ? [] : ['1 thread: the page is not cross-origin isolated'] };
  if (asked !== undefined) return { threads: Math.max(1, Math.floor(asked)), why: [] };
  const threads = Math.max(1, Math.min(device.cores, MAX_THREADS));
  return { threads, why: [`${threads} of ${device.cores} cores, at most ${MAX_THREADS}`] };
}
