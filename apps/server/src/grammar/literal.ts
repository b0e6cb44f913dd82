/** A text as the rules of a grammar write it. */
export function literal(text: string): string {
  const escaped = text.replaceAll(/["\\\p{Cc}]/gu, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}
