// Told apart also by the colour-blind (Okabe and Ito).
const streamColours = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#f0e442', '#0072b2', '#d55e00'];

/** The colour of the n-th stream. */
export function streamColour(index: number): string {
  return streamColours[index % streamColours.length] ?? '#999999';
}

/**
 * Text that any XML document and any terminal can hold: control characters are shown by their
 * picture (U+2400 …), halves of characters and what Unicode gives no meaning by U+FFFD.
 */
export function printable(text: string): string {
  return text
    .replaceAll(controls, (character) => String.fromCodePoint(0x2400 + character.charCodeAt(0)))
    .replaceAll(noCharacters, '\ufffd');
}

// Tab, line feed and carriage return are legal in XML, but not all of what else is below a space.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f]/g;
// With the flag u a surrogate matches only where its other half is missing.
const noCharacters = /[\x7f-\x9f\ud800-\udfff\ufffe\uffff]/gu;

/** Text that is safe inside an XML element or attribute. */
export function escapeXml(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** `text` cut to what fits into `width` pixels at 11-pixel type. */
export function clip(text: string, width: number): string {
  const most = Math.floor(width / 6.2);
  if (text.length <= most) return text;
  return most < 3 ? '' : `${text.slice(0, most - 1)}…`;
}
