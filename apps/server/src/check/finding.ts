/** One thing that was looked at. */
export interface Finding {
  readonly name: string;
  readonly isGood: boolean;
  readonly detail: string;
}

/** One finding a line; further lines of a detail are indented below it. */
export function findingTable(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ name }) => name.length));
  const indent = `\n${' '.repeat(width + 6)}`;
  const line = ({ name, isGood, detail }: Finding): string =>
    `${isGood ? 'ok  ' : 'no  '} ${name.padEnd(width)}  ${detail.replaceAll('\n', indent)}\n`;
  return findings.map(line).join('');
}

/** A size as a person reads it. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}

/** The first few of many, and how many more there are. */
export function someOf(all: readonly string[], most: number, separator: string): string {
  const rest = all.length - most;
  return [...all.slice(0, most), ...(rest > 0 ? [`and ${rest} more`] : [])].join(separator);
}
