/** How many of a thing, in words: `1 device`, `2 devices`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
