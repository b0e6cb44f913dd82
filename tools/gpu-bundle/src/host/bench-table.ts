/** What a bench saved, as far as the table needs it. */
export interface SavedBench {
  readonly bench: string;
  readonly device: string;
  readonly date: string;
  readonly rows: readonly {
    readonly case: Readonly<Record<string, string | number>>;
    readonly us?: number;
    readonly peers?: Readonly<Record<string, number>>;
    readonly right: boolean;
  }[];
}

/** A line for each row of each bench: the median, and the peers' medians with how much slower they are. */
export function benchTable(benches: readonly SavedBench[]): string {
  const lines = benches.flatMap(({ bench, device, rows }) => [
    `${bench} · ${device}`,
    ...rows.map((row) => {
      const name = Object.entries(row.case).map(([key, value]) => `${key}=${value}`);
      const peers = Object.entries(row.peers ?? {}).map(([peer, us]) => {
        const ratio = row.us ? ` (${(us / row.us).toFixed(2)}x)` : '';
        return `${peer} ${us.toPrecision(4)} µs${ratio}`;
      });
      const time = row.us === undefined ? 'WRONG' : `${row.us.toPrecision(4)} µs`;
      return `  ${name.join(' ').padEnd(56)} ${time.padStart(12)}  ${peers.join(', ')}`.trimEnd();
    }),
  ]);
  return `\n${lines.map((line) => `${line}\n`).join('')}`;
}
