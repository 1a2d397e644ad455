// A row of named columns to tensors: docs/decoders.md, "Tables".
import type { Cell, ModelInput } from '../../runtime/types';
import { readCell } from '../../shared/cells';
import type { Column, TableInput } from '../../shared/contract';
import { badInput, never } from '../../shared/errors';
import { type Cells, readRow } from '../../shared/row';
import { float32Tensor, int64Tensor, stringTensor, type TensorData } from '../../shared/tensors';
import { isRow, toBlob } from './file';

/** The row that is given, or that a JSON or CSV file holds. */
export async function rowOf(given: ModelInput): Promise<Cells> {
  return isRow(given) ? new Map(Object.entries(given)) : readRow(toBlob(given));
}

/** In the order of the columns; throws bad-input naming the column that is unknown, missing or of a wrong value. */
export function decodeTable(cells: Cells, { columns, matrix }: TableInput): readonly TensorData[] {
  const names = columns.map(({ name }) => name);
  const unknown = [...cells.keys()].find(name => !names.includes(name));
  if (unknown !== undefined) {
    throw badInput(`Column ${unknown}: there is no such column; the columns: ${names.join(', ')}`);
  }
  const values = columns.map(column => read(column, cells.get(column.name) ?? null, matrix !== null));
  if (matrix !== null) {
    const row = values.map(value => value ?? Number.NaN);
    return [float32Tensor(matrix, row)];
  }
  return columns.map((column, i) => columnTensor(column, values[i] ?? null));
}

function read(column: Column, cell: Cell, inMatrix: boolean): number | null {
  const value = readCell(column, cell);
  if (value !== null) return value;
  if (column.missing === 'refuse') throw badInput(`Column ${column.name}: is missing`);
  const hasNaN = inMatrix || column.type === 'number' || column.type === 'category';
  if (!hasNaN) throw badInput(`Column ${column.name}: is missing, and an int64 tensor has no NaN to say so`);
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
