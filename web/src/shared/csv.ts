// Comma-separated values: docs/decoders.md, "Tables". Strict, so that both sides read the same or refuse.
import { LikewiseError } from './errors';

/** A quoted cell with what follows it, or a cell as it stands; each up to the comma or line end that closes it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/y;

/** The lines that are not empty, as cells. Throws bad-input for a quoted cell that does not end as it should. */
export function parseCsv(text: string): readonly (readonly string[])[] {
  const lines: string[][] = [];
  let cells: string[] = [];
  for (let at = 0; at < text.length; ) {
    CELL.lastIndex = at;
    const match = CELL.exec(text);
    const [found = '', quoted, plain = '', end] = match ?? [];
    if (match === null || (quoted === undefined && plain.startsWith('"'))) {
      throw new LikewiseError(
        'bad-input',
        `Line ${lines.length + 1}, cell ${cells.length + 1}: its quotes do not end`,
      );
    }
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    at += found.length;
    if (end === ',' && at < text.length) continue;
    if (end === ',') cells.push('');
    const isEmpty = cells.length === 1 && quoted === undefined && plain === '';
    if (!isEmpty) lines.push(cells);
    cells = [];
  }
  return lines;
}
