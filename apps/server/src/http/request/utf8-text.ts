import { isUtf8 } from 'node:buffer';

/**
 * The text of bytes in UTF-8, or the place where they are none: characters would take the place of
 * such bytes, in prompts, too.
 */
export function utf8Text(bytes: Buffer): { readonly text: string } | { readonly wrongAt: number } {
  const text = bytes.toString('utf8');
  return isUtf8(bytes) ? { text } : { wrongAt: firstReplaced(bytes, Buffer.from(text)) };
}

/** Where the first U+FFFD begins in a text that stands for bytes that are none. */
function firstReplaced(bytes: Buffer, text: Buffer): number {
  let at = firstDifference(bytes, text);
  // The bytes may begin as those of U+FFFD do, so that they differ only within it.
  while (((text[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

/** Where the two, which are not the same, begin to differ. */
function firstDifference(one: Buffer, other: Buffer): number {
  let [same, different] = [0, Math.min(one.length, other.length)];
  while (same < different) {
    const middle = (same + different + 1) >> 1;
    const isSame = one.compare(other, same, middle, same, middle) === 0;
    if (isSame) same = middle;
    else different = middle - 1;
  }
  return same;
}
