const controlsBelow = 0x20;
const controlPictures = 0x2400;

/**
 * Makes text of models and servers safe for a terminal, where control characters could move the
 * cursor, change colours or type for the user: all but line ends and tabs become visible symbols.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, (character) => {
    const code = character.charCodeAt(0);
    return code < controlsBelow ? String.fromCharCode(controlPictures + code) : '\uFFFD';
  });
}
