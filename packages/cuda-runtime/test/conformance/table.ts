import { readdirSync, readFileSync } from 'node:fs';

/** A value for all modes, or one for each of global, thread_local, relaxed. */
type Value = string | number | readonly [Value, Value, Value];
type Expected = Readonly<Record<string, Value>>;

/** What a row and one of its cases can say; the case adds to the row. */
interface Terms {
  /** What CUDA answers. */
  readonly expect?: Expected;
  /** Where our API answers otherwise, guarded or not; an empty text = cannot be asked. */
  readonly raw?: Expected;
  /** Where our API answers otherwise when guarded. */
  readonly guarded?: Expected;
  /** Why our API cannot play it. */
  readonly ours?: string;
  /** Why the program against the raw driver cannot play it. */
  readonly driver?: string;
  /** Letters of G, T, R, or `-` without capture. */
  readonly modes?: string;
  /** Afterwards all streams must work; default true. */
  readonly usable?: boolean;
  /** Measures time. */
  readonly alone?: boolean;
}

interface Case extends Terms {
  readonly name: string;
}

/** One row of the specification's table. */
export interface Row extends Terms {
  readonly id: string;
  readonly title: string;
  readonly note?: string;
  readonly cases?: readonly (string | Case)[];
}

/** One program to play: a row, one of its cases, one mode, with or without guards. */
export interface Play {
  readonly id: string;
  readonly title: string;
  /** The case; empty when the row has only one. */
  readonly case: string;
  readonly mode: string;
  readonly guards: boolean;
  readonly expected: Readonly<Record<string, string>>;
  readonly isUsable: boolean;
  readonly note: string;
  /** Why it is not played; empty = it is. */
  readonly why: string;
}

const folder = new URL('rows/', import.meta.url);

/** The whole table, `rows/*.json`, with the family's modes filled in. */
export const rows: readonly Row[] = readdirSync(folder).flatMap((file) => {
  const family = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as {
    readonly modes?: string;
    readonly rows: readonly Row[];
  };
  return family.rows.map((row) => ({ modes: family.modes ?? 'T', ...row }));
});

/** Everything that one backend has to play. */
export function plays(guards: boolean): readonly Play[] {
  return rows.flatMap((row) =>
    (row.cases ?? ['']).flatMap((entry) => {
      const terms: Case = typeof entry === 'string' ? { name: entry } : entry;
      return [...(terms.modes ?? row.modes ?? 'T')].map((mode) => toPlay(row, terms, mode, guards));
    }),
  );
}

function toPlay(row: Row, entry: Case, mode: string, guards: boolean): Play {
  const isUsable = entry.usable ?? row.usable ?? true;
  const layers = [row.expect, entry.expect, row.raw, entry.raw];
  if (guards) layers.push(row.guarded, entry.guarded);
  const merged: Record<string, string> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) merged[key] = textOf(value, mode);
  }
  if (isUsable) merged['usable'] = 'yes';
  const asked = Object.entries(merged).filter(([, value]) => value !== '');
  return {
    id: row.id,
    title: row.title,
    case: entry.name,
    mode,
    guards,
    expected: Object.fromEntries(asked),
    isUsable,
    note: row.note ?? '',
    why: entry.ours ?? row.ours ?? '',
  };
}

function textOf(value: Value, mode: string): string {
  if (typeof value !== 'object') return String(value);
  return String(value[mode === 'T' ? 1 : mode === 'R' ? 2 : 0]);
}
