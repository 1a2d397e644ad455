// The one place where JSON from outside becomes a typed value.
import { type Schema, Validator } from '@cfworker/json-schema';
import type { Contract } from './contract';
import contractSchema from './contract.schema.json';
import { LikewiseError } from './errors';
import type { Evidence } from './evidence';
import evidenceSchema from './evidence.schema.json';
import indexSchema from './index.schema.json';
import type { Index } from './index-file';

/** Checked against contract.schema.json; throws bad-contract naming the file and each wrong field. */
export const parseContract = parser<Contract>(contractSchema);
export const parseIndex = parser<Index>(indexSchema);
export const parseEvidence = parser<Evidence>(evidenceSchema);

/** `file` is for the message. */
export type Parse<T> = (bytes: Uint8Array | string, file: string) => T;

const MAX_COMPLAINTS = 5;

function parser<T>(schema: object): Parse<T> {
  // Made on first use: compiling a schema costs more than most pages want to pay at start.
  let validator: Validator | undefined;
  return (bytes, file) => {
    const value = parseJson(bytes, file);
    validator ??= new Validator(schema as Schema, '2020-12', false);
    const { valid, errors } = validator.validate(value);
    if (!valid) throw new LikewiseError('bad-contract', `${file}: ${complaints(errors)}`);
    return value as T;
  };
}

function parseJson(bytes: Uint8Array | string, file: string): unknown {
  try {
    return JSON.parse(typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new LikewiseError('bad-contract', `${file}: not JSON: ${why}`);
  }
}

/** The deepest complaints only: the rest repeats them from the parents' view. */
function complaints(errors: readonly { instanceLocation: string; error: string }[]): string {
  const deepest = errors.filter(
    ({ instanceLocation: at }) => !errors.some(other => other.instanceLocation.startsWith(`${at}/`)),
  );
  const texts = new Set(
    deepest.map(({ instanceLocation, error }) => `${instanceLocation.slice(2)}: ${error}`),
  );
  return [...texts].slice(0, MAX_COMPLAINTS).join('; ');
}
