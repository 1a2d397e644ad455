// The form's logic: from what stands in the fields to a row, or to what is still wrong with it.

import type { Cell, Row } from '../runtime/types';
import { readCell } from '../shared/cells';
import type { Column, TableInput } from '../shared/contract';
import type { Cells } from '../shared/row';

type Spec = Pick<TableInput, 'columns' | 'matrix'>;

/** What stands in the fields, by column; '' is nothing. */
export type Texts = ReadonlyMap<string, string>;

export type Field =
  | { readonly kind: 'fine' }
  /** `needed`: the row has no answer without it. */
  | { readonly kind: 'missing'; readonly needed: boolean }
  | { readonly kind: 'outside' }
  | { readonly kind: 'wrong'; readonly why: string };

/** Whether the column may be left out: an int64 tensor has no NaN to say so. */
export function mayBeMissing({ missing, type }: Column, matrix: string | null): boolean {
  return missing === 'nan' && (matrix !== null || type === 'number' || type === 'category');
}

/** An empty form; a check box is never missing. */
export function emptyTexts({ columns, matrix }: Spec): Texts {
  const checkboxes = columns.filter(column => column.type === 'boolean' && !mayBeMissing(column, matrix));
  return new Map(checkboxes.map(({ name }) => [name, 'false']));
}

/** A row from a file as the fields show it. What does not fit a column stays as it is, for `fieldOf` to refuse. */
export function toTexts(cells: Cells, spec: Spec): Texts {
  const shown = spec.columns.flatMap(column => {
    const cell = cells.get(column.name);
    return cell === undefined || cell === null ? [] : [[column.name, shownCell(column, cell)] as const];
  });
  return new Map([...emptyTexts(spec), ...shown]);
}

export function fieldOf(column: Column, text: string, matrix: string | null): Field {
  try {
    const value = readCell(column, text);
    if (value === null) return { kind: 'missing', needed: !mayBeMissing(column, matrix) };
    return { kind: isOutside(column, value) ? 'outside' : 'fine' };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'wrong', why: why.replace(`Column ${column.name}: `, '') };
  }
}

export type Filled =
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'unfinished'; readonly why: string };

/** The row once every field is fine; until then what it lacks, '' while nothing was begun. */
export function filled({ columns, matrix }: Spec, texts: Texts): Filled {
  const fields = columns.map(column => fieldOf(column, texts.get(column.name) ?? '', matrix));
  const wrong = columns.filter((_, i) => fields[i]?.kind === 'wrong');
  const lacking = columns.filter((_, i) => isLacking(fields[i]));
  if (wrong[0] !== undefined) {
    const more = wrong.length > 1 ? ` and ${wrong.length - 1} more` : '';
    return { kind: 'unfinished', why: `Correct ${wrong[0].title}${more}.` };
  }
  if (lacking.length === 0) {
    const cells = columns.map(({ name }) => [name, texts.get(name) ?? ''] as const);
    return { kind: 'row', row: Object.fromEntries(cells) };
  }
  const needed = columns.filter(column => !mayBeMissing(column, matrix) && column.type !== 'boolean').length;
  if (lacking.length === needed) return { kind: 'unfinished', why: '' };
  if (lacking.length === 1) return { kind: 'unfinished', why: `${lacking[0]?.title} is still missing.` };
  return { kind: 'unfinished', why: `${lacking.length} of ${columns.length} values are still missing.` };
}

/** "6.98 to 28.1 mm"; '' where the contract tells no range. */
export function rangeOf({ lowest, highest, unit }: Column): string {
  if (lowest === null || lowest === undefined || highest === null || highest === undefined) return '';
  return [`${short(lowest)} to ${short(highest)}`, unit].filter(Boolean).join('\u00a0');
}

function isLacking(field: Field | undefined): boolean {
  return field?.kind === 'missing' && field.needed;
}

function isOutside({ type, lowest, highest }: Column, value: number): boolean {
  if (type !== 'number' && type !== 'integer') return false;
  // The value was rounded to float32 and the bounds were not: one that is the bound is not outside.
  return value < Math.fround(lowest ?? -Infinity) || value > Math.fround(highest ?? Infinity);
}

/** As the form's own controls write it. */
function shownCell(column: Column, cell: Cell): string {
  if (column.type !== 'boolean') return String(cell);
  try {
    const value = readCell(column, cell);
    return value === null ? '' : String(value === 1);
  } catch {
    return String(cell);
  }
}

const DIGITS = 4;

function short(value: number): string {
  return String(Number(value.toPrecision(DIGITS)));
}
