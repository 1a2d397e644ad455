/** Characters at a time: more would overflow the call stack. */
const BLOCK = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += BLOCK) {
    text += String.fromCharCode(...bytes.subarray(at, at + BLOCK));
  }
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), character => character.charCodeAt(0));
}
