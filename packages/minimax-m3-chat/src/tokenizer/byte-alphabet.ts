/**
 * The byte-level BPE alphabet of GPT-2: each byte is written as one printable character, so that
 * a vocabulary can be kept as JSON text. Printable Latin-1 stands for itself; the other 68 bytes
 * take the characters from U+0100 on, in ascending order.
 */
const characterOfByte: readonly string[] = buildAlphabet();
const byteOfCharacter: ReadonlyMap<string, number> = new Map(
  characterOfByte.map((character, byte) => [character, byte]),
);

/** The character that stands for `byte` (0…255) in a byte-level vocabulary. */
export function byteToCharacter(byte: number): string {
  const character = characterOfByte[byte];
  if (character === undefined) throw new RangeError(`byteToCharacter: \`byte\` is ${byte}`);
  return character;
}

/** The bytes of a byte-level vocabulary entry, or null if a character is not of the alphabet. */
export function entryToBytes(entry: string): Uint8Array | null {
  const bytes = new Uint8Array(entry.length);
  for (let i = 0; i < entry.length; i++) {
    const byte = byteOfCharacter.get(entry.charAt(i));
    if (byte === undefined) return null;
    bytes[i] = byte;
  }
  return bytes;
}

/** A text as the byte-level alphabet writes it. */
export function textToEntry(text: string): string {
  return Array.from(new TextEncoder().encode(text), byteToCharacter).join('');
}

function buildAlphabet(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(isPrintable(byte) ? byte : next++),
  );
}

function isPrintable(byte: number): boolean {
  return (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
}
