// Text to token ids: docs/decoders.md, "Texts". The library comes with the first model that reads text.
import type { TextInput } from '../../shared/contract';
import { badInput, LikewiseError } from '../../shared/errors';
import { int64Tensor, type TensorData } from '../../shared/tensors';
import { parseJson, readBytes, toText } from '../../shared/text-file';

const MAX_BYTES = 1_000_000;

interface Tokens {
  readonly ids: readonly number[];
  /** Segment ids. */
  readonly types: readonly number[];
}

export type Tokenize = (text: string) => Tokens;

/** Of the version's tokenizer.json, cutting at `max_tokens`. Throws bad-contract when it cannot be used. */
export async function loadTokenizer(data: Uint8Array, spec: TextInput): Promise<Tokenize> {
  const { Tokenizer } = await import('@huggingface/tokenizers');
  const tokenizer = attempt(spec, () => new Tokenizer(parseJson(toText(data)) as object, {}));
  const { model, post_processor } = tokenizer;
  if (model === null) throw unusable(spec, 'it has no model');
  const added = new Map([...tokenizer.get_added_tokens_decoder()].map(([id, { content }]) => [content, id]));
  const finish = (tokens: string[]) => post_processor?._call(tokens) ?? { tokens };
  const special = finish([]).tokens.length;
  if (spec.max_tokens <= special) {
    throw unusable(spec, `max_tokens = ${spec.max_tokens} leaves no room beside ${special} special tokens`);
  }
  return text => {
    // The library itself never cuts: special tokens are put around what is left.
    const { tokens, token_type_ids: types } = finish(
      tokenizer.tokenize(text).slice(0, spec.max_tokens - special),
    );
    const ids = tokens.map(token => added.get(token) ?? model.tokens_to_ids.get(token) ?? model.unk_token_id);
    if (!ids.every(id => id !== undefined)) throw unusable(spec, 'a token has no id');
    return { ids, types: types ?? ids.map(() => 0) };
  };
}

/** Ids, mask and segment ids as the contract names them, int64 [1, tokens]. Throws bad-input for what is no text. */
export async function decodeText(
  file: Blob,
  spec: TextInput,
  tokenize: Tokenize,
): Promise<readonly TensorData[]> {
  const { ids, types } = tokenize(await readText(file));
  if (ids.length === 0)
    throw badInput('The tokenizer finds no token in this text; give one with words in it.');
  const tensors: TensorData[] = [];
  const add = (name: string | null, values: readonly number[]) => {
    if (name !== null) tensors.push(int64Tensor(name, values));
  };
  add(spec.ids, ids);
  add(
    spec.mask,
    ids.map(() => 1),
  );
  add(spec.types, types);
  return tensors;
}

async function readText(file: Blob): Promise<string> {
  if (file.size > MAX_BYTES) {
    throw badInput(`${file.size} bytes of text, limit ${MAX_BYTES}; give a part of it.`);
  }
  const text = toText(await readBytes(file));
  const nul = text.indexOf('\0');
  if (nul >= 0)
    throw badInput(`Character ${nul} is NUL: this is no text, or one in UTF-16; save it as UTF-8.`);
  if (/^[\t-\r ]*$/.test(text)) throw badInput('The text is empty; give at least one word.');
  return text;
}

function attempt<T>(spec: TextInput, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw unusable(spec, error instanceof Error ? error.message : String(error));
  }
}

function unusable({ tokenizer }: TextInput, why: string): LikewiseError {
  return new LikewiseError('bad-contract', `${tokenizer.file}: no tokenizer of this library: ${why}`);
}
