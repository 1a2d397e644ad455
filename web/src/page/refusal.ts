// What people are told when something is refused: what, why, what now.

export interface Refusal {
  readonly code: string;
  /** What, in one sentence. */
  readonly what: string;
  /** Why: the runtime's own words, naming the file and the values. */
  readonly why: string;
  /** What can be done. */
  readonly now: string;
}

type Words = Pick<Refusal, 'what' | 'now'>;

const NEW_PUBLICATION =
  'Nothing was run and nothing was stored. Try again; if it stays so, whoever runs this site has to publish the version anew.';
const OTHER_PICTURE = 'Choose another picture: JPEG, PNG or WebP.';

const WORDS: Readonly<Record<string, Words>> = {
  'wrong-bytes': { what: 'A file of this model is not the one that was verified.', now: NEW_PUBLICATION },
  'bad-contract': { what: 'The contract of this model cannot be read.', now: NEW_PUBLICATION },
  unverified: { what: 'This variant has no evidence, so it is not run.', now: NEW_PUBLICATION },
  'not-found': { what: 'There is no such model here.', now: 'Go back to the models.' },
  offline: {
    what: 'The server cannot be reached and this model is not stored on this device.',
    now: 'Connect once and open the model; from then on it works offline.',
  },
  'bad-input': {
    what: 'This is not an input that the model takes.',
    now: 'Correct what is named above, or choose another input.',
  },
  'unsupported-picture': { what: 'This is not a picture that can be read exactly.', now: OTHER_PICTURE },
  'broken-picture': { what: 'This picture is damaged or not complete.', now: OTHER_PICTURE },
  'picture-too-large': {
    what: 'This picture is too large.',
    now: 'Make it smaller, at most 100 megapixels, and choose it again.',
  },
  'nothing-drawn': {
    what: 'There is nothing drawn in this picture.',
    now: 'Draw, or choose another picture.',
  },
  'not-a-number': {
    what: 'The model gave something that is not a number.',
    now: 'No answer is shown. Try another input, or load the model again.',
  },
  'backend-unavailable': {
    what: 'This browser cannot run the model.',
    now: 'Use a current version of Chrome, Edge, Firefox or Safari.',
  },
  closed: { what: 'The model was closed.', now: 'Load it again.' },
};

const OTHERWISE: Words = { what: 'This did not work.', now: 'Try again, or reload the page.' };

/** The refusal to show for whatever was thrown. */
export function refusalOf(error: unknown): Refusal {
  const code = codeOf(error);
  const words = WORDS[code] ?? OTHERWISE;
  return { code, ...words, why: error instanceof Error ? error.message : String(error) };
}

/** The stable code of an error of the runtime; "failed" of any other. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'failed';
}
