/** What a bench saved, as far as the table needs it. */
export interface SavedBench {
  readonly bench: string;
  readonly device: string;
  readonly date: string;
  readonly rows: readonly {
    readonly case: Readonly<Record<string, string | number>>;
    readonly us?: number;
    readonly peers?: Readonly<Record<string, number>>;
    readonly target?: { readonly what: string; readonly value: number; readonly most: number };
    readonly right: boolean;
  }[];
}

/**
 * A line for each row of each bench: the median, peers' medians over ours, targets met or missed.
 */
export function benchTable(benches: readonly SavedBench[]): string {
  const lines = benches.flatMap(({ bench, device, rows }) => [
    `${bench} · ${device}`,
    ...rows.map((row) => {
      const name = Object.entries(row.case).map(([key, value]) => `${key}=${value}`);
      const peers = Object.entries(row.peers ?? {}).map(([peer, us]) => {
        const ratio = row.us ? ` (${(us / row.us).toFixed(2)}x)` : '';
        return `${peer} ${microseconds(us)}${ratio}`;
      });
      const time = row.us === undefined ? 'WRONG' : microseconds(row.us);
      const more = [...peers, ...(row.target ? [verdict(row.target)] : [])].join(', ');
      return `  ${name.join(' ').padEnd(56)} ${time.padStart(12)}  ${more}`.trimEnd();
    }),
  ]);
  return `\n${lines.map((line) => `${line}\n`).join('')}`;
}

function microseconds(us: number): string {
  return `${us.toFixed(us < 1000 ? 2 : 0)} µs`;
}

function verdict({ what, value, most }: { what: string; value: number; most: number }): string {
  return `${value <= most ? 'met' : 'MISSED'}: ${what} ${value.toFixed(2)}, at most ${most}`;
}
