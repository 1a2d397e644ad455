// What the page says of each kind of input.

import type { TemplateResult } from 'lit';
import type { IndexEntry } from '../shared/index-file';
import * as icons from './icons';

export interface KindWords {
  /** Once the model is there and nothing is given yet. */
  readonly invitation: string;
  /** While it is on its way. */
  readonly meanwhile: string;
  /** Besides the panel's own. */
  readonly otherWays: string;
  /** For the gallery, where there is no picture of a sample. */
  readonly icon: TemplateResult;
}

export const KINDS: Readonly<Record<IndexEntry['kind'], KindWords>> = {
  drawing: {
    invitation: 'Draw, and the answer appears here.',
    meanwhile: 'You can draw already.',
    otherWays: 'A picture can also be dropped or pasted. With the keyboard, choose a picture or a sample.',
    icon: icons.pencil,
  },
  image: {
    invitation: 'Choose a picture, and the answer appears here.',
    meanwhile: 'You can choose a picture already.',
    otherWays: 'A picture can also be dropped or pasted.',
    icon: icons.picture,
  },
  table: {
    invitation: 'Fill in the row or take a sample, and the answer appears here.',
    meanwhile: 'You can fill in the row already.',
    otherWays: 'A file with one row (CSV with a header line, or JSON) can also be dropped.',
    icon: icons.table,
  },
  bytes: {
    invitation: 'Choose a file, and the answer appears here.',
    meanwhile: 'You can choose a file already.',
    otherWays: 'A file can also be dropped or pasted.',
    icon: icons.document,
  },
  tensor: {
    invitation: 'Choose a file with tensors, and the answer appears here.',
    meanwhile: 'You can choose a file already.',
    otherWays: 'A file can also be dropped or pasted.',
    icon: icons.tensor,
  },
  text: {
    invitation: 'Type a text or take a sample, and the answer appears here.',
    meanwhile: 'You can type already.',
    otherWays: 'A text file can also be dropped or pasted.',
    icon: icons.text,
  },
  sound: {
    invitation: 'Choose a sound, and the answer appears here.',
    meanwhile: 'You can choose a sound already.',
    otherWays: 'A WAV file can also be dropped or pasted.',
    icon: icons.sound,
  },
};
