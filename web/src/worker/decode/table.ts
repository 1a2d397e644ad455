// A row of named columns to tensors: docs/decoders.md, "Tables".
import type { Cell, ModelInput } from '../../runtime/types';
import type { Column, TableInput } from '../../shared/contract';
import { LikewiseError, never } from '../../shared/errors';
import { float32Tensor, int64Tensor, stringTensor, type TensorData } from '../../shared/tensors';
import { readCell } from './cells';
import { parseCsv } from './csv';
import { isRow, looksLikeJson, parseJson, readBytes, toBlob, toText } from './file';

type Cells = ReadonlyMap<string, Cell>;

/** The row that is given, or that a JSON or CSV file holds. */
export async function readRow(given: ModelInput): Promise<Cells> {
  if (isRow(given)) return new Map(Object.entries(given));
  const text = toText(await readBytes(toBlob(given)));
  return looksLikeJson(text) ? fromObject(parseJson(text)) : fromCsv(text);
}

/** In the order of the columns; throws bad-input naming the column that is unknown, missing or of a wrong value. */
export function decodeTable(row: Cells, { columns, matrix }: TableInput): readonly TensorData[] {
  const names = columns.map(({ name }) => name);
  const unknown = [...row.keys()].find(name => !names.includes(name));
  if (unknown !== undefined) {
    throw bad(`Column ${unknown}: there is no such column; the columns: ${names.join(', ')}`);
  }
  const values = columns.map(column => read(column, row.get(column.name) ?? null, matrix !== null));
  if (matrix !== null)
    return [
      float32Tensor(
        matrix,
        values.map(value => value ?? Number.NaN),
      ),
    ];
  return columns.map((column, i) => columnTensor(column, values[i] ?? null));
}

function read(column: Column, cell: Cell, inMatrix: boolean): number | null {
  const value = readCell(column, cell);
  if (value !== null) return value;
  if (column.missing === 'refuse') throw bad(`Column ${column.name}: is missing`);
  const hasNaN = inMatrix || column.type === 'number' || column.type === 'category';
  if (!hasNaN) throw bad(`Column ${column.name}: is missing, and an int64 tensor has no NaN to say so`);
  return null;
}

function columnTensor({ name, type, categories = [] }: Column, value: number | null): TensorData {
  switch (type) {
    case 'number':
      return float32Tensor(name, [value ?? Number.NaN]);
    case 'integer':
    case 'boolean':
      return int64Tensor(name, [value ?? 0]);
    case 'category':
      return stringTensor(name, [value === null ? '' : (categories[value] ?? '')]);
    default:
      return never(type);
  }
}

function fromObject(value: unknown): Cells {
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  return new Map(
    entries.map(([name, cell]) => {
      if (typeof cell === 'object' && cell !== null)
        throw bad(`Column ${name}: a list or object is no value`);
      return [name, cell as Cell];
    }),
  );
}

function fromCsv(text: string): Cells {
  const [names = [], cells, ...more] = parseCsv(text);
  if (cells === undefined)
    throw bad('The file is no JSON object, and as CSV it has no row below its header line.');
  if (more.length > 0) throw bad(`The file has ${more.length + 1} rows; one at a time.`);
  if (cells.length !== names.length)
    throw bad(`The row has ${cells.length} cells, the header ${names.length}.`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw bad(`Column ${twice}: comes twice in the header`);
  return new Map(names.map((name, i) => [name, cells[i] ?? '']));
}

function bad(message: string): LikewiseError {
  return new LikewiseError('bad-input', message);
}
