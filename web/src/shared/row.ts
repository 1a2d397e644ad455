// A table's row from a JSON or CSV file, cells as they stand: docs/decoders.md, "Tables".
import type { Cell } from '../runtime/types';
import { parseCsv } from './csv';
import { badInput } from './errors';
import { looksLikeJson, parseJson, readBytes, toText } from './text-file';

/** Cells by column name; a column that is left out is missing. */
export type Cells = ReadonlyMap<string, Cell>;

/** Throws bad-input for what is neither a JSON object nor a CSV file of one row with its header line. */
export async function readRow(file: Blob): Promise<Cells> {
  const text = toText(await readBytes(file));
  return looksLikeJson(text) ? fromObject(parseJson(text)) : fromCsv(text);
}

function fromObject(value: unknown): Cells {
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  return new Map(
    entries.map(([name, cell]) => {
      if (typeof cell === 'object' && cell !== null)
        throw badInput(`Column ${name}: a list or object is no value`);
      return [name, cell as Cell];
    }),
  );
}

function fromCsv(text: string): Cells {
  const [names = [], cells, ...more] = parseCsv(text);
  if (cells === undefined)
    throw badInput('The file is no JSON object, and as CSV it has no row below its header line.');
  if (more.length > 0) throw badInput(`The file has ${more.length + 1} rows; one at a time.`);
  if (cells.length !== names.length)
    throw badInput(`The row has ${cells.length} cells, the header ${names.length}.`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw badInput(`Column ${twice}: comes twice in the header`);
  return new Map(names.map((name, i) => [name, cells[i] ?? '']));
}
