import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Play } from './table.js';

/** What one program gave; `note` says why it was not played, or in what it differs. */
export interface PlayedRow {
  readonly id: string;
  readonly case: string;
  readonly mode: string;
  readonly guards: boolean;
  readonly expected: Readonly<Record<string, string>>;
  readonly got?: Readonly<Record<string, string>>;
  readonly right?: boolean;
  readonly note: string;
}

/** A file `conformance-<backend>-<driver or version>.json`. */
export interface Results {
  readonly backend: string;
  readonly device: string;
  readonly driver: number | string;
  readonly right: number;
  readonly different: number;
  readonly notPlayed: number;
  readonly rows: readonly PlayedRow[];
}

/** The saved results. */
export const resultsFolder = new URL('results/', import.meta.url);

/** What was expected of a play, from what was seen. */
export function picked(play: Play, got: Readonly<Record<string, string>>): Record<string, string> {
  const keys = Object.keys(play.expected);
  return Object.fromEntries(keys.map((key) => [key, got[key] ?? 'nothing']));
}

/** One line of the results. */
export function played(
  play: Play,
  outcome: { readonly got: Readonly<Record<string, string>> } | { readonly why: string },
): PlayedRow {
  const { id, mode, guards, expected } = play;
  const row = { id, case: play.case, mode, guards, expected };
  if ('why' in outcome) return { ...row, note: outcome.why };
  const seen = picked(play, outcome.got);
  const keys = Object.keys(expected).filter((key) => expected[key] !== seen[key]);
  const note = keys.map((key) => `${key}: expected ${expected[key]}, got ${seen[key]}`).join('; ');
  return { ...row, got: seen, right: note === '', note };
}

/** Writes the file into a folder, a row a line so that differences can be read. */
export function saveResults(
  folder: string,
  machine: Pick<Results, 'backend' | 'device' | 'driver'>,
  rows: readonly PlayedRow[],
): void {
  const count = (right: boolean | undefined) => rows.filter((row) => row.right === right).length;
  const head = {
    ...machine,
    right: count(true),
    different: count(false),
    notPlayed: count(undefined),
  };
  const lines = rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n');
  const text = `${JSON.stringify(head).slice(0, -1)},"rows":[\n${lines}\n]}\n`;
  writeFileSync(`${folder}/conformance-${machine.backend}-${machine.driver}.json`, text);
}

/** The results in the tree, by file name. */
export function savedResults(): readonly (readonly [string, Results])[] {
  return readdirSync(resultsFolder).map((file) => {
    const text = readFileSync(new URL(file, resultsFolder), 'utf8');
    return [file, JSON.parse(text) as Results] as const;
  });
}
