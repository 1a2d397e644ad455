// One cell of a table to a value, by its column: docs/decoders.md, "Tables".
import type { Cell } from '../runtime/types';
import type { Column } from './contract';
import { LikewiseError, never } from './errors';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPACE_AT_ENDS = /^[\t-\r ]+|[\t-\r ]+$/g;
const BOOLEANS = new Map([
  ['true', 1],
  ['false', 0],
  ['1', 1],
  ['0', 0],
]);

/** Of a category its place among the column's; null: missing. Throws bad-input naming the column and the value. */
export function readCell(column: Column, cell: Cell): number | null {
  if (column.type === 'category') return readCategory(column, cell);
  const value = typeof cell === 'string' ? cell.replace(SPACE_AT_ENDS, '') : cell;
  if (value === null || value === '') return null;
  switch (column.type) {
    case 'boolean':
      return readBoolean(column, value);
    case 'number':
      return readNumber(column, value);
    case 'integer':
      return readInteger(column, value);
    default:
      return never(column.type);
  }
}

function readCategory(column: Column, cell: Cell): number | null {
  const { categories = [] } = column;
  const place = typeof cell === 'string' ? categories.indexOf(cell) : -1;
  if (place >= 0) return place;
  if (cell === null || cell === '') return null;
  throw refused(column, cell, `is not one of ${categories.join(', ')}`);
}

function readBoolean(column: Column, value: string | number | boolean): number {
  const found = BOOLEANS.get(String(value).toLowerCase());
  if (found === undefined) throw refused(column, value, 'is not true, false, 1 or 0');
  return found;
}

function readNumber(column: Column, value: string | number | boolean): number {
  const number = Math.fround(toFloat64(column, value));
  if (!Number.isFinite(number)) throw refused(column, value, 'is beyond float32 (about 3.4e38)');
  return number;
}

function readInteger(column: Column, value: string | number | boolean): number {
  const number = toFloat64(column, value);
  if (!Number.isSafeInteger(number)) throw refused(column, value, 'is not whole or beyond 2^53 - 1');
  return number;
}

/** Minus zero becomes zero: readers of JSON disagree on it. */
function toFloat64(column: Column, value: string | number | boolean): number {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value));
  if (!isNumber || Number.isNaN(value)) throw refused(column, value, 'is not a number like 12, -0.5 or 1e-3');
  return Number(value) + 0;
}

const MOST_SHOWN = 40;

function refused({ name }: Column, value: Cell, why: string): LikewiseError {
  const text = JSON.stringify(value) ?? String(value);
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text;
  return new LikewiseError('bad-input', `Column ${name}: ${shown} ${why}`);
}
