// Whether the page itself is stored for use without a network. A stored model alone is of no use offline.

export type Shell = 'storing' | 'stored' | 'none';

/** Why the page does not work offline (yet); '' when it does. */
export function shellWhy(shell: Shell): string {
  switch (shell) {
    case 'stored':
      return '';
    case 'storing':
      return 'the page itself is still being stored';
    case 'none':
      return 'this browser stores no pages here';
    default:
      return shell satisfies never;
  }
}
